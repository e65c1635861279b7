"""What people say for days, with the days they mean, said on Monday 30 November 2026. First and last day, YY-MM-DD."""

ENGLISH = """
yesterday | 26-11-29 26-11-29
the day before yesterday | 26-11-28 26-11-28
last night | 26-11-29 26-11-29
this morning | 26-11-30 26-11-30
what did I say earlier today | 26-11-30 26-11-30
tomorrow | 26-12-01 26-12-01
the day after tomorrow | 26-12-02 26-12-02
last Tuesday | 26-11-24 26-11-24
Tuesday last week | 26-11-24 26-11-24
what did we do on Tuesday of last week | 26-11-24 26-11-24
last week on Wednesday | 26-11-25 26-11-25
the Friday before last | 26-11-20 26-11-20
what happened Friday? | 26-11-27 26-11-27
Friday's meeting | 26-11-27 26-11-27
what did she say on Saturday morning | 26-11-28 26-11-28
what do I have on Friday | 26-12-04 26-12-04
next Friday | 26-12-11 26-12-11
this Thursday | 26-12-03 26-12-03
last weekend | 26-11-28 26-11-29
the weekend before last | 26-11-21 26-11-22
what did we do over the weekend | 26-11-28 26-11-29
this week | 26-11-30 26-12-06
last week | 26-11-23 26-11-29
the week before last | 26-11-16 26-11-22
next week | 26-12-07 26-12-13
last month | 26-10-01 26-10-31
this month | 26-11-01 26-11-30
the month before last | 26-09-01 26-09-30
two months ago | 26-09-01 26-09-30
a month ago | 26-10-01 26-10-31
three days ago | 26-11-27 26-11-27
10 days ago | 26-11-20 26-11-20
a week ago | 26-11-23 26-11-29
two weeks ago | 26-11-16 26-11-22
a couple of weeks ago | 26-11-09 26-11-23
a couple of days ago | 26-11-27 26-11-29
a few days ago | 26-11-23 26-11-28
a few weeks ago | 26-10-26 26-11-20
several months ago | 26-05-24 26-10-11
the other day | 26-11-23 26-11-28
half a year ago | 26-04-01 26-06-30
a year ago | 25-08-01 26-02-28
two years ago | 24-01-01 24-12-31
in the past three weeks | 26-11-09 26-11-30
over the last 10 days | 26-11-20 26-11-30
the last few days | 26-11-25 26-11-30
in the past month | 26-10-30 26-11-30
in the last week | 26-11-23 26-11-30
the past year | 25-11-30 26-11-30
over the last two months | 26-09-30 26-11-30
recently | 26-10-31 26-11-30
the next three days | 26-11-30 26-12-03
in three days | 26-12-03 26-12-03
between 3 and 7 March | 26-03-03 26-03-07
from 3 to 7 March 2025 | 25-03-03 25-03-07
March 3-7 | 26-03-03 26-03-07
3–7 March | 26-03-03 26-03-07
between March and May | 26-03-01 26-05-31
from March to May | 26-03-01 26-05-31
November to February | 25-11-01 26-02-28
Monday to Wednesday | 26-11-23 26-11-25
from 12 March to 4 April | 26-03-12 26-04-04
from yesterday to today | 26-11-29 26-11-30
in March | 26-03-01 26-03-31
March 2025 | 25-03-01 25-03-31
in March last year | 25-03-01 25-03-31
March of last year | 25-03-01 25-03-31
last March | 26-03-01 26-03-31
last December | 25-12-01 25-12-31
next March | 27-03-01 27-03-31
what will I do in December | 26-12-01 26-12-31
what did I do in December | 25-12-01 25-12-31
early March | 26-03-01 26-03-12
in mid-October 2025 | 25-10-08 25-10-22
late November | 26-11-18 26-11-30
at the end of March | 26-03-19 26-03-31
the beginning of last month | 26-10-01 26-10-12
at the end of last month | 26-10-19 26-10-31
the first week of March | 26-03-01 26-03-07
the last week of October | 26-10-25 26-10-31
the week of 3 March | 26-03-02 26-03-08
summer | none
last summer | 26-06-01 26-08-31
in the summer | 26-06-01 26-08-31
summer 2025 | 25-06-01 25-08-31
in the spring of 2025 | 25-03-01 25-05-31
last winter | 25-12-01 26-02-28
during the autumn | 26-09-01 26-11-30
next spring | 27-03-01 27-05-31
Q3 | 26-07-01 26-09-30
Q3 2025 | 25-07-01 25-09-30
in the third quarter | 26-07-01 26-09-30
last quarter | 26-07-01 26-09-30
the last quarter of 2025 | 25-10-01 25-12-31
in the first half of the year | 26-01-01 26-06-30
the second half of 2025 | 25-07-01 25-12-31
last year | 25-01-01 25-12-31
the year before last | 24-01-01 24-12-31
this year | 26-01-01 26-12-31
later this week | 26-12-01 26-12-06
earlier this month | 26-11-01 26-11-30
early last year | 25-01-01 25-05-26
in 2025 | 25-01-01 25-12-31
in late 2024 | 24-08-07 24-12-31
on the first day of the year | 26-01-01 26-01-01
at Christmas | 25-12-24 25-12-26
Christmas Eve | 25-12-24 25-12-24
last Christmas | 25-12-24 25-12-26
next Christmas | 26-12-24 26-12-26
Christmas 2024 | 24-12-24 24-12-26
what will we cook at Christmas | 26-12-24 26-12-26
on New Year's Eve | 25-12-31 25-12-31
New Year's Day | 26-01-01 26-01-01
at New Year | 25-12-31 26-01-01
Easter | 26-04-03 26-04-06
over Easter 2025 | 25-04-18 25-04-21
Good Friday | 26-04-03 26-04-03
Halloween | 26-10-31 26-10-31
Thanksgiving | 26-11-26 26-11-26
Valentine's Day | 26-02-14 26-02-14
Chinese New Year | 26-02-16 26-02-23
at Spring Festival last year | 25-01-28 25-02-04
the Mid-Autumn Festival | 26-09-25 26-09-25
the Dragon Boat Festival 2025 | 25-05-31 25-05-31
Singles' Day | 26-11-11 26-11-11
2026-03 | 26-03-01 26-03-31
2026-03-14 | 26-03-14 26-03-14
on 3/14 | 26-03-14 26-03-14
on 14/3 | 26-03-14 26-03-14
3/14/2025 | 25-03-14 25-03-14
14.03.2026 | 26-03-14 26-03-14
14.3.25 | 25-03-14 25-03-14
12 May | 26-05-12 26-05-12
May 12th | 26-05-12 26-05-12
May 5, 2026 | 26-05-05 26-05-05
the 1st of September | 26-09-01 26-09-01
on the 5th | 26-11-05 26-11-05
the 5th of last month | 26-10-05 26-10-05
week 12 | 26-03-16 26-03-22
week 12 of 2025 | 25-03-17 25-03-23
2025-W12 | 25-03-17 25-03-23
who may come | none
march on | none
the second one | none
a short fall from the wall | none
a spring in the sofa | none
3/4 of a cup | none
what did Sunny say | none
the monthly report | none
an everyday task | none
"""

CHINESE = """
昨天 | 26-11-29 26-11-29
昨晚 | 26-11-29 26-11-29
昨天晚上我们聊了什么 | 26-11-29 26-11-29
前天 | 26-11-28 26-11-28
大前天 | 26-11-27 26-11-27
今天早上 | 26-11-30 26-11-30
今早 | 26-11-30 26-11-30
刚才说的那个 | 26-11-30 26-11-30
明天 | 26-12-01 26-12-01
后天 | 26-12-02 26-12-02
大后天 | 26-12-03 26-12-03
上周三 | 26-11-25 26-11-25
上个星期三 | 26-11-25 26-11-25
上礼拜天 | 26-11-29 26-11-29
上上周 | 26-11-16 26-11-22
上上周五 | 26-11-20 26-11-20
这周 | 26-11-30 26-12-06
本周三 | 26-12-02 26-12-02
上周 | 26-11-23 26-11-29
上个星期 | 26-11-23 26-11-29
下周 | 26-12-07 26-12-13
下周一 | 26-12-07 26-12-07
周五 | 26-11-27 26-11-27
周五有什么安排 | 26-12-04 26-12-04
周末去了哪里 | 26-11-28 26-11-29
周末要做什么 | 26-12-05 26-12-06
上周末 | 26-11-28 26-11-29
上上周末 | 26-11-21 26-11-22
本月 | 26-11-01 26-11-30
这个月 | 26-11-01 26-11-30
上个月 | 26-10-01 26-10-31
上上个月 | 26-09-01 26-09-30
上月底 | 26-10-19 26-10-31
上个月5号 | 26-10-05 26-10-05
上个月第一周 | 26-10-01 26-10-07
月初 | 26-11-01 26-11-12
三月 | 26-03-01 26-03-31
三月份 | 26-03-01 26-03-31
三月初 | 26-03-01 26-03-12
三月中旬 | 26-03-08 26-03-22
三月底 | 26-03-19 26-03-31
十二月 | 25-12-01 25-12-31
十二月要做什么 | 26-12-01 26-12-31
去年三月 | 25-03-01 25-03-31
今年二月 | 26-02-01 26-02-28
2025年3月 | 25-03-01 25-03-31
3月5号 | 26-03-05 26-03-05
3月5日 | 26-03-05 26-03-05
去年12月3号 | 25-12-03 25-12-03
二〇二五年三月五日 | 25-03-05 25-03-05
十二月二十五号 | 25-12-25 25-12-25
5号那天 | 26-11-05 26-11-05
3月5号到8号 | 26-03-05 26-03-08
3月5-8日 | 26-03-05 26-03-08
三月到五月 | 26-03-01 26-05-31
从三月到五月 | 26-03-01 26-05-31
周一到周三 | 26-11-23 26-11-25
3月12日到4月4日 | 26-03-12 26-04-04
去年夏天 | 25-06-01 25-08-31
夏天去了哪里 | 26-06-01 26-08-31
今年春天 | 26-03-01 26-05-31
去年冬天 | 25-12-01 26-02-28
去年秋季 | 25-09-01 25-11-30
第三季度 | 26-07-01 26-09-30
上个季度 | 26-07-01 26-09-30
去年三季度 | 25-07-01 25-09-30
上半年 | 26-01-01 26-06-30
下半年 | 26-07-01 26-12-31
去年下半年 | 25-07-01 25-12-31
年初 | 26-01-01 26-03-31
年底 | 26-10-01 26-12-31
去年底 | 25-10-01 25-12-31
去年年底 | 25-10-01 25-12-31
今年初 | 26-01-01 26-03-31
去年 | 25-01-01 25-12-31
前年 | 24-01-01 24-12-31
今年 | 26-01-01 26-12-31
明年 | 27-01-01 27-12-31
2025年 | 25-01-01 25-12-31
三天前 | 26-11-27 26-11-27
两周前 | 26-11-16 26-11-22
两个星期前 | 26-11-16 26-11-22
两个月前 | 26-09-01 26-09-30
半年前 | 26-04-01 26-06-30
一年前 | 25-08-01 26-02-28
三年前 | 23-01-01 23-12-31
几天前 | 26-11-23 26-11-28
两三天前 | 26-11-27 26-11-28
几个月前 | 26-05-24 26-10-11
前两天 | 26-11-26 26-11-29
前几天 | 26-11-23 26-11-29
这几天 | 26-11-23 26-11-30
最近几天 | 26-11-23 26-11-30
最近一周 | 26-11-23 26-11-30
最近三天 | 26-11-27 26-11-30
过去三个月 | 26-08-30 26-11-30
近半年 | 26-05-30 26-11-30
最近 | 26-10-31 26-11-30
未来三天 | 26-11-30 26-12-03
春节 | 26-02-16 26-02-23
去年春节 | 25-01-28 25-02-04
除夕 | 26-02-16 26-02-16
元宵节 | 26-03-03 26-03-03
清明 | 26-04-04 26-04-06
五一 | 26-05-01 26-05-05
端午节 | 26-06-19 26-06-19
中秋 | 26-09-25 26-09-25
国庆 | 26-10-01 26-10-07
去年国庆 | 25-10-01 25-10-07
国庆假期 | 26-10-01 26-10-07
元旦 | 26-01-01 26-01-01
双十一 | 26-11-11 26-11-11
圣诞节 | 25-12-24 25-12-26
七夕 | 26-08-19 26-08-19
第12周 | 26-03-16 26-03-22
2025年第12周 | 25-03-17 25-03-23
5号线 | none
3号楼 | none
三个月 | none
后面的路 | none
一周三次 | none
十一个人 | none
年费多少 | none
每周三 | none
"""


def phrases(text: str) -> list[tuple[str, tuple[str, str] | None]]:
    """(phrase, its days; None for words that say no day)."""
    rows = (line.split(" | ") for line in text.strip().splitlines())
    return [(words, None if days == "none" else (days[:8], days[9:])) for words, days in rows]
