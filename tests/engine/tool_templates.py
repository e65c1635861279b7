"""Chat templates in the manner of well-known model families, told in our own words: what they render is what counts."""

HERMES = """\
{%- set begun = messages[0].role == 'system' %}
{%- if tools or begun %}
    {{- '<|im_start|>system\\n' ~ (messages[0].content if begun else '') }}
    {%- if tools %}
        {{- '\\n\\nFunctions:' }}
        {%- for tool in tools %}{{- '\\n' ~ tool | tojson }}{%- endfor %}
        {{- '\\nCall one so: <tool_call>{"name": ..., "arguments": ...}</tool_call>' }}
    {%- endif %}
    {{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'tool' %}
        {{- '<|im_start|>user' if loop.previtem.role != 'tool' }}
        {{- '\\n<tool_response>\\n' ~ message.content ~ '\\n</tool_response>' }}
        {{- '<|im_end|>\\n' if loop.last or loop.nextitem.role != 'tool' }}
    {%- elif not (begun and loop.first) %}
        {{- '<|im_start|>' ~ message.role ~ ('\\n' ~ message.content if message.content or not message.tool_calls) }}
        {%- for call in message.tool_calls or [] %}
            {{- '\\n<tool_call>\\n{"name": "' ~ call.function.name ~ '", "arguments": ' }}
            {{- call.function.arguments | tojson ~ '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}"""

THINKING = HERMES.replace(
    "~ message.content if message.content", "~ message.content.split('</think>')[-1] if message.content"
)
"""As Qwen 3: the thoughts of earlier replies are cut out, and thinking can be turned off."""
THINKING = THINKING.replace(
    "{{- '<|im_start|>assistant\\n' }}",
    "{{- '<|im_start|>assistant\\n' }}{% if enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{% endif %}",
)

LLAMA = """\
{{- bos_token }}<|start_header_id|>system<|end_header_id|>

{% if tools %}Environment: ipython
{% endif %}{{ messages[0].content | trim if messages[0].role == 'system' else '' }}<|eot_id|>
{%- for message in messages if message.role != 'system' -%}
{%- if message.role == 'user' -%}
<|start_header_id|>user<|end_header_id|>

{% if tools and loop.first %}Answer with a function call as {"name": function, "parameters": values} where one helps.
{% for tool in tools %}{{ tool | tojson(indent=4) }}
{% endfor %}{% endif %}{{ message.content | trim }}<|eot_id|>
{%- elif message.tool_calls is defined -%}
{%- if message.tool_calls | length != 1 %}{{ raise_exception('one call at a time') }}{% endif -%}
{%- set call = message.tool_calls[0].function -%}
<|start_header_id|>assistant<|end_header_id|>

{"name": "{{ call.name }}", "parameters": {{ call.arguments | tojson }}}<|eot_id|>
{%- elif message.role in ('tool', 'ipython') -%}
<|start_header_id|>ipython<|end_header_id|>

{{ message.content | tojson }}<|eot_id|>
{%- else -%}
<|start_header_id|>{{ message.role }}<|end_header_id|>

{{ message.content | trim }}<|eot_id|>
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
<|start_header_id|>assistant<|end_header_id|>

{% endif -%}"""

MISTRAL = """\
{%- set said = messages[1:] if messages[0].role == 'system' else messages -%}
{%- set state = namespace(user=true) -%}
{{ bos_token }}
{%- for message in said -%}
{%- if message.role in ('user', 'assistant') and not message.tool_calls -%}
{%- if (message.role == 'user') != state.user %}{{ raise_exception('roles must alternate') }}{% endif -%}
{%- set state.user = not state.user -%}
{%- endif -%}
{%- if message.role == 'user' -%}
{%- if tools and loop.first %}[AVAILABLE_TOOLS]{{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif -%}
[INST]
{{- messages[0].content ~ '\\n\\n' if messages[0].role == 'system' and loop.first else '' }}
{{- message.content }}[/INST]
{%- elif message.tool_calls -%}
[TOOL_CALLS][
{%- for call in message.tool_calls -%}
{%- if call.id | length != 9 %}{{ raise_exception('ids of nine characters') }}{% endif -%}
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}, "id": "{{ call.id }}"}
{{- ', ' if not loop.last }}
{%- endfor -%}
]{{ eos_token }}
{%- elif message.role == 'tool' -%}
[TOOL_RESULTS]{"content": {{ message.content | tojson }}, "call_id": "{{ message.tool_call_id }}"}[/TOOL_RESULTS]
{%- else -%}
{{ message.content }}{{ eos_token }}
{%- endif -%}
{%- endfor -%}"""

GEMMA = """\
{{ bos_token }}
{%- if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif -%}
{%- for message in messages -%}
{%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif -%}
<start_of_turn>{{ 'model' if message.role == 'assistant' else message.role }}
{{ message.content | trim }}<end_of_turn>
{% endfor -%}
{%- if add_generation_prompt -%}
<start_of_turn>model
{% endif -%}"""

PHI = """\
{%- for message in messages if message.role in ('system', 'user', 'assistant') -%}
<|{{ message.role }}|>
{{ message.content }}<|end|>
{% endfor -%}
{{- '<|assistant|>\\n' if add_generation_prompt else eos_token -}}"""

FAMILIES = {"hermes": HERMES, "thinking": THINKING, "llama": LLAMA, "mistral": MISTRAL, "gemma": GEMMA, "phi": PHI}
