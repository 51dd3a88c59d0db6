"""Where an answer is over although the text goes on: a model that does not stop takes a turn or a question of its own. Pure."""

import re

NEXT_TURN = re.compile(
    r"(?im)<\|(?:im_end|im_start|eot_id|endoftext|end|user)\|>|</s>"
    r"|^[ #*>]{0,6}(?:(?:next )?question|problem|q|user|human|问题|题目|用户)[ *]{0,3}[0-9]{0,3}[ *]{0,3}[:：.]"
)
"""Its start. What stands before it counts, unless that is nothing: an answer may begin by telling the question again."""
