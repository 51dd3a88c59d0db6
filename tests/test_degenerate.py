"""What is a loop or word salad, and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.degenerate import is_degenerate

# vllm 30445
SALAD = 'The question: "What isIs \'the\'s capital the capital of ? ??" \'scapital?"the?the"????"?" thecapital??"is\'the'


ORDINARY = {
    "short": "no no",
    "one word": "Yes.",
    "number": "18",
    "laughter": "哈哈哈哈哈哈，太有意思了",
    "exclamation": "Congratulations!!! You did it!!!!",
    "trailing dots": "Well, let me think......",
    "han ellipsis": "让我想一想。。。。。。",
    "song": "La la la la la la la la, la la la la la.",
    "ruler": "Result\n" + "-" * 80,
    "rulers": ("=" * 72 + "\nChapter\n" + "=" * 72 + "\n") * 3,
    "stars": "* * * * * * * * * *",
    "contents": "Introduction " + "." * 60 + " 3\nMethod " + "." * 66 + " 9",
    "table": "| item | price |\n|---|---|\n| pen | 2 |\n| book | 12 |\n| bag | 30 |\n",
    "table of zeros": "| a | b | c |\n|---|---|---|\n" + "| 0 | 0 | 0 |\n" * 6,
    "table of yes": "| test | ok |\n|------|----|\n" + "| yes | yes |\n" * 8,
    "empty cells": "| a | b | c | d |\n| --- | --- | --- | --- |\n" + "|   |   |   |   |\n" * 4,
    "numbers": ", ".join(str(n) for n in range(1, 200)),
    "zeros": "[" + ", ".join(["0"] * 100) + "]",
    "bits": " ".join(["01101000", "01100101", "01101100", "01101100", "01101111"] * 4),
    "googol": "A googol is 1" + "0" * 100 + ".",
    "third": "1/3 = 0." + "3" * 40,
    "sevenths": "1/7 = 0." + "142857" * 8 + "...",
    "squares": "\n".join(f"The square of {n} is {n * n}." for n in range(1, 40)),
    "times table": "\n".join(f"{a} x {b} = {a * b}" for a in range(1, 10) for b in range(1, 10)),
    "json": '[{"id": 1, "ok": true}, {"id": 2, "ok": true}, {"id": 3, "ok": true}, {"id": 4, "ok": true}]',
    "equal json": "[" + ", ".join(['{"x": 0, "y": 0, "name": "none"}'] * 10) + "]",
    "nested json": '{"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":1}}}}}}}}',
    "csv": "id,city,score\n" + "\n".join(f"{n},Oslo,{n % 3}" for n in range(60)),
    "code": "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n",
    "repeated lines": "```python\n" + 'print("hello")\n' * 10 + "```",
    "repeated lines without a fence": 'print("hello")\n' * 8,
    "increments": "int i = 0;\n" + "i++;\n" * 10,
    "html": "<ul>\n" + "<li></li>\n" * 10 + "</ul>\n" + "</div>\n" * 6,
    "f-strings": 'print(f"hello")\nprint(r"a?b")\nprint(b"x?y")\nprint(f"a?b")',
    "ternary": "x=a?b:c;y=d?e:f;z=g?h:i;w=j?k:l;",
    "urls": "https://a.example/x?a=1\nhttps://a.example/y?b=2\nhttps://a.example/z?c=3\nhttps://a.example/w?d=4",
    "punctuation talk": 'The marks "?", "!", "?!" and "!?" end a sentence; "..." does not. Really?! Yes?!',
    "dialogue": '"Who?" she asked. "Me?" he said. "Yes, you!" "Why?" "Because!" "Oh?" "Oh!" "What?!" he cried.',
    "refrain": (
        "The tide came in, the tide went out,\nand all the boats lay still.\nHey ho, the wind blows free,\n"
        "hey ho, the wind blows free,\nhey ho, the wind blows free!\nThe moon came up, the moon went down,\n"
        "and all the boats lay still.\nHey ho, the wind blows free,\nhey ho, the wind blows free,\nhey ho, the wind blows free!"
    ),
    "chinese": "小明一共有十六个鸡蛋，早上吃了三个，又用四个做松饼，还剩九个。每个卖两美元，所以他每天赚十八美元。",
    "chinese list": "1. 先洗手。\n2. 再切菜。\n3. 然后炒菜。\n4. 最后装盘。\n5. 洗碗。",
    "chinese poem": "风起了，云散了，\n归来吧，归来吧。\n雨停了，天晴了，\n归来吧，归来吧。\n花开了，\n归来吧，归来吧。",
    "languages": "hello, bonjour, hola, привет, 你好, こんにちは, 안녕하세요, مرحبا, שלום, नमस्ते, สวัสดี, γειά",
    "russian": "Столица Франции — Париж. Python и vLLM работают хорошо.",
    "mixed": "在Python里用list和dict，再用API调用GPU上的模型。",
    "mathematics": "$$\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}$$ so Δx = αβ and 16 - 3 - 4 = 9, 9 * 2 = 18.",
    "base64": "iVBORw0KGgoAAAANSUhEUgAAAAAAAAAAAAAAAAAAAAAAAAAA" + "qX7bQ2",
    "bars": "January ████████████ 12\nFebruary ██████████████████ 18\nMarch ██████ 6",
    "steps": "So 16 - 3 = 13. So 13 - 4 = 9. So 9 * 2 = 18. So the answer is 18.\n#### 18",
    "emoji": "Great job! 🎉🎉🎉🎉🎉",
    "same mark twice": "The answer is 18. The answer is 18. #### 18",
    "bottles": "".join(
        f"{n} bottles of beer on the wall, {n} bottles of beer. Take one down and pass it around, " for n in range(9)
    ),
    "lyrics": "Row, row, row your boat,\nGently down the stream.\nMerrily, merrily, merrily, merrily,\nLife is a dream.\n" * 2,
    "let it be": ("Let it be, let it be, let it be, let it be.\nWhisper words of wisdom, let it be.\n" * 2).strip(),
    "dup words": "I know that that is what he had had in mind. Very very good. Bye bye!",
    "buffalo": "Buffalo buffalo Buffalo buffalo buffalo buffalo Buffalo buffalo.",
    "5555": "555555 ขำมาก",
    "wwww": "草wwwwwwww",
    "pi": "3.14159265358979323846264338327950288419716939937510",
    "hex": "0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
    "multi": "English: Hello\nРусский: Привет\n中文：你好\n日本語：こんにちは\n한국어: 안녕\nالعربية: مرحبا\nहिन्दी: नमस्ते",
    "zh-en tech": "使用PyTorch的DataLoader加载数据集，然后用Adam优化器训练model，最后调用model.eval()进行评估。",
    "ru-en tech": "Затем vLLM-сервер слушает порт 8000, API-ключ не нужен, JSON-ответ приходит в UTF-8.",
    "jp mix": "PythonでAPIを呼び出すにはrequestsライブラリを使います。URLにはhttps://example.comを指定してください。",
    "kr mix": "Python으로 API를 호출하려면 requests 라이브러리를 사용합니다. URL은 다음과 같습니다.",
    "el math": "Let α=β+γ and Δx→0; then λ₁≤μ. kΩ, 5µm, 10Å.",
    "he": "קוד Python: print('שלום')",
    "th mix": "ใช้ Python เพื่อเรียก API ของ OpenAI ครับ",
    "hi mix": "Python में list और dict का उपयोग करें।",
    "vi": "Xin chào, tôi là trợ lý. Hà Nội là thủ đô của Việt Nam.",
    "ar en": "استخدم Python مع مكتبة NumPy ثم اكتب import numpy",
    "glued ru": "IP-адрес, HTTP-запрос, SSL-сертификат, USB-порт, GPS-трекер, PDF-файл, SIM-карта, VIP-зал",
    "ru zh dict": "苹果яблоко 香蕉банан 你好привет",
    "dict colon": "hello:привет, cat:кот, dog:собака, house:дом",
    "dict =": "hello=привет\ncat=кот\ndog=собака",
    "paren": "Moscow (Москва), Kyiv (Київ), Athens (Αθήνα), Seoul (서울), Tokyo (東京)",
    "board": " X | O | X \n---+---+---\n O | X | O \n---+---+---\n X | O | X ",
    "matrix": "[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]",
    "tree": "├── src\n│   ├── a.py\n│   └── b.py\n└── tests\n    └── test_a.py",
    "checkbox": "- [ ] one\n- [ ] two\n- [x] three\n- [ ] one\n- [ ] two\n- [x] three\n- [ ] one\n- [ ] two\n- [x] three\n",
    "sql": "INSERT INTO t VALUES (1,'a');\nINSERT INTO t VALUES (2,'b');\nINSERT INTO t VALUES (3,'c');\n",
    "asm": "mov eax, 0\nnop\nnop\nnop\nnop\nnop\nret",
    "regex": "^(?:[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*)$",
    "emoji list": "✅ Done\n✅ Tested\n✅ Deployed\n❌ Reviewed",
    "hearts": "❤️❤️❤️❤️❤️❤️",
    "kaomoji": "(╯°□°)╯︵ ┻━┻ ¯\\_(ツ)_/¯",
    "morse": "... --- ... / .... . .-.. .-.. ---",
    "braille": "⠓⠑⠇⠇⠕",
    "chords": "C G Am F | C G Am F | C G Am F | C G Am F",
    "quotes": "He said, \"She said 'Why?' and then 'What?!' — really?\"",
    "zh redup": "慢慢地走，高高兴兴地唱，大大小小的，干干净净，明明白白，研究研究，商量商量",
    "zh parallel": "春天来了，花开了。夏天来了，蝉鸣了。秋天来了，叶落了。冬天来了，雪下了。",
    "tongue": "四是四，十是十，十四是十四，四十是四十。",
    "chant": "Om mani padme hum, Om mani padme hum, Om mani padme hum",
    "yes list": "1. Yes\n2. Yes\n3. No\n4. Yes\n5. Yes\n6. Yes\n7. No\n8. Yes",
    "camel": "getUserName setUserName isActive hasPermission toString valueOf hashCode compareTo",
    "products": "iPhone, iPad, MacBook, YouTube, PayPal, GitHub, JavaScript, TypeScript, PostgreSQL, MySQL, LinkedIn",
    "what?the": "Who?What?Where?When?Why?",
    "dna": "ATGCGTACGTTAGCATCGATCGGATCCATCGATTTAGCGCGATATCGCGAT",
    "words": "apple apple banana apple cherry banana",
    "roman": "I II III IV V VI VII VIII IX X",
    "ooo": "Ooooooooh, nooooooo! Whaaaaaat?",
    "zh huh": "啊啊啊啊啊啊啊！太好了！",
}


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY.keys())
def test_an_ordinary_text_is_not_degenerate(text: str, cut: bool) -> None:
    assert not is_degenerate(text, cut=cut)


SENTENCE = "So the total number of eggs that are left is nine. "
DEGENERATE = {
    "exclamation": "!" * 200,
    "few exclamations": "!" * 24,
    "after a start": "The answer is" + "!" * 120,
    "question marks": "? " * 40,
    "commas": "，" * 50,
    "han": "好的" * 12,
    "han loop after text": "小明有三个苹果，" + "我们再算一次。" * 12,
    "one han character": "的" * 60,
    "word": "the " * 50,
    "word after text": "Janet sells eggs at the market, and " + "and " * 30,
    "sentence": SENTENCE * 8,
    "sentence after a good start": "Janet has 16 eggs. She eats three and bakes with four. " + SENTENCE * 7,
    "sentence broken off": SENTENCE * 6 + SENTENCE[:20],
    "marks": "#### 18\n" * 30,
    "paragraph": ("Let me check this again. She has 16 eggs, she eats 3, she bakes 4.\nThat leaves 9, at 2 dollars. " * 6),
    "han sentence": "所以答案是十八美元。" * 10,
    "two characters": "ab" * 60,
    "digits": "0" * 300,
    "ruler without end": "-" * 600,
    "number loop": "1.1.1.1." * 50,
    "json that never ends": '{"a": {"a": ' * 60,
    "emoji": "🎉" * 80,
    "salad": SALAD,
    "few words": "the of is the the of of is capital the is of the capital of the the is of the " * 1
    + "of the the is capital of " * 9,
    "doubled words": "The the capital capital of of France France is is a a city city and and the the river river " * 2,
    "bytes": "The \ufffd\ufffd\ufffd ca\ufffd\ufffd\ufffdpi\ufffd\ufffd\ufffd",
    "scripts": "appointmentстоли瓦尔dотy首都привет的wasпарtheв",
    "salad2": "the isWhat's??\"of capital?? ?the\" 'what'?is\"?capital'of?? what?the\"is",
    "salad3": "Answer:: the,the ,,of of.. .the,, is is,.the of,,. the the,.of is,, ,the. of",
    "salad4": "isistheofofthetheisofofof theofis isthethe ofofis theisof ofthe isis theof ofofthe",
    "salad5 camel": "capitalThe isOf theFrance cityWhat ofThe isIs whatThe ofOf theIs isThe capitalOf whatIs ofWhat",
    "han loop3": "好的，好的，好的，好的，好的，好的，好的，好的，好的，好的，好的，好的，",
    "han loop4": "答案是是是是是是是是是是是是是是是是是是是是",
    "han loop mixed": "问题：首都是哪里？首都是首都是首都是首都是首都是首都是首都是首都是",
    "jp loop": "はい" * 15,
    "jp2": "です。" * 15,
    "korean": "안녕하세요 " * 10,
    "ar loop": "مرحبا " * 15,
    "thai": "สวัสดี" * 10,
    "three words": "I am a " * 10,
    "two emoji": "😀😂" * 15,
    "emoji zwj": "👨\u200d👩\u200d👧" * 12,
    "flags": "🇫🇷" * 15,
    "pad": "<pad>" * 20,
    "unk": "<unk> " * 15,
    "eos": "<|endoftext|>" * 10,
    "repl": "caf�� th� �����",
    "doubled": "The the capital capital of of France France is is Paris Paris and and it it is is big big the the river river",
    "letters": "a b c a b c a b c a b c a b c a b c a b c a b c a b c a b c a b c a b c",
    "script glue": "Сиstоliца vоdotы тheпри capiталь ofФранс isпариж",
    "no spaces": "andpeopleahistorywasisknowncapitalculturecitycityoniscultureriverriverlivecultureFrancemanyyears",
    "random tokens": "ĠtheĠcapitalĠofĠFranceĠisĠParis.",
    "brackets": "(" * 100,
    "json loop": '{"a": 1}, ' * 40,
    "html loop": "<div>" * 60,
    "blank until the limit": "#### 18" + "\n" * 300,
}


@pytest.mark.parametrize("text", DEGENERATE.values(), ids=DEGENERATE.keys())
def test_loops_and_salad_at_the_limit_are_degenerate(text: str) -> None:
    assert is_degenerate(text, cut=True)


@pytest.mark.parametrize(
    "text", ["!" * 60, "好的" * 60, "the " * 60, SENTENCE * 30, SALAD, "😀" * 60, "<pad>" * 40, "Sure!" + "!" * 80]
)
def test_plain_loops_are_degenerate_wherever_they_stop(text: str) -> None:
    assert is_degenerate(text, cut=False)


@given(st.text(), st.booleans())
def test_degeneracy_never_raises(text: str, cut: bool) -> None:
    is_degenerate(text, cut=cut)
