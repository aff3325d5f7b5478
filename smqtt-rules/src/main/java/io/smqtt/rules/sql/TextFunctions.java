// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.List;
import java.util.Locale;

/** Functions that change text. Positions and lengths count characters (code points). */
final class TextFunctions {

    private TextFunctions() {}

    static List<Function> all() {
        return new FunctionFamily()
                .add("lower(text)", "in lower case", a -> made(a, a.text(0).toLowerCase(Locale.ROOT)))
                .add("upper(text)", "in upper case", a -> made(a, a.text(0).toUpperCase(Locale.ROOT)))
                .add(
                        "trim(text)",
                        "without white space at both ends",
                        a -> a.text(0).strip())
                .add(
                        "ltrim(text)",
                        "without white space in front",
                        a -> a.text(0).stripLeading())
                .add(
                        "rtrim(text[, characters])",
                        "without white space, or these characters, at the end",
                        a -> a.count() == 1 ? a.text(0).stripTrailing() : stripTrailing(a.text(0), a.text(1)))
                .add(
                        "reverse(text)",
                        "backwards",
                        a -> made(a, new StringBuilder(a.text(0)).reverse().toString()))
                .add("strlen(text)", "the number of characters", a -> (long) length(a.text(0)))
                .add("substr(text, start[, length])", "from a position, counted from 0", TextFunctions::substring)
                .add(
                        "concat(x[, y])",
                        "both one behind the other; the elements of an array if there is only one",
                        a -> a.count() == 2
                                ? Operators.concat(a.value(0), a.value(1), a.meter())
                                : SplitFunctions.join("", a.list(0), a.meter()))
                .add(
                        "pad(text, length[, direction][, filler])",
                        "filled up to a length: 'trailing' (default), 'leading' or 'both', with spaces or the filler",
                        TextFunctions::pad)
                .add("rm_prefix(text, prefix)", "without the prefix, if it has it", a -> {
                    String text = a.text(0);
                    String prefix = a.text(1);
                    return text.startsWith(prefix) ? text.substring(prefix.length()) : text;
                })
                .add(
                        "replace(text, search, replacement[, where])",
                        "with another text for 'all' (default) occurrences, the 'leading' or the 'trailing' one",
                        TextFunctions::replace)
                .add("ascii(text)", "the code of the first character", a -> {
                    String text = a.text(0);
                    if (text.isEmpty()) {
                        throw a.failure("the text is empty");
                    }
                    return (long) text.codePointAt(0);
                })
                .add(
                        "find(text, search[, direction])",
                        "from the first ('leading', default) or last ('trailing') occurrence to the end; empty text if there is none",
                        TextFunctions::find)
                .add(
                        "unescape(text)",
                        "with the characters that C's escapes such as \\n and \\x41 stand for",
                        a -> unescape(a, a.text(0)))
                .add(
                        "sprintf(format[, …])",
                        "formatted by ~s, ~p, ~w, ~b, ~f, ~e, ~c, ~n and ~~, with width and precision, as Erlang's io:format",
                        a -> new Format(a).write())
                .functions();
    }

    private static String made(Arguments a, String text) {
        a.meter().make(text.length());
        return text;
    }

    private static int length(String text) {
        return text.codePointCount(0, text.length());
    }

    private static String stripTrailing(String text, String characters) {
        int end = text.length();
        while (end > 0) {
            int last = text.codePointBefore(end);
            if (characters.indexOf(last) < 0) {
                break;
            }
            end -= Character.charCount(last);
        }
        return text.substring(0, end);
    }

    private static Object substring(Arguments a) {
        String text = a.text(0);
        int size = length(text);
        long start = a.integer(1);
        long from = start < 0 ? Math.max(0, size + start) : Math.min(size, start);
        long length = a.count() == 3 ? a.integer(2, 0, Long.MAX_VALUE) : size;
        int begin = text.offsetByCodePoints(0, (int) from);
        int end = text.offsetByCodePoints(begin, (int) Math.min(length, size - from));
        return made(a, text.substring(begin, end));
    }

    private static Object pad(Arguments a) {
        String text = a.text(0);
        String filler = a.text(3, " ");
        long missing = a.integer(1, 0, Integer.MAX_VALUE) - length(text);
        if (missing <= 0) {
            return text;
        }
        a.meter().make(text.length() + missing * filler.length());
        long front = switch (a.text(2, "trailing")) {
            case "trailing" -> 0;
            case "leading" -> missing;
            case "both" -> missing / 2;
            default -> throw a.failure("the direction must be 'trailing', 'leading' or 'both'");
        };
        return filler.repeat((int) front) + text + filler.repeat((int) (missing - front));
    }

    private static Object replace(Arguments a) {
        String text = a.text(0);
        String search = a.text(1);
        String replacement = a.text(2);
        if (search.isEmpty()) {
            throw a.failure("the text that is searched for is empty");
        }
        int at = switch (a.text(3, "all")) {
            case "all" -> -2;
            case "leading" -> text.indexOf(search);
            case "trailing" -> text.lastIndexOf(search);
            default -> throw a.failure("where must be 'all', 'leading' or 'trailing'");
        };
        if (at == -1) {
            return text;
        }
        if (at >= 0) {
            return made(a, text.substring(0, at) + replacement + text.substring(at + search.length()));
        }
        long count = 0;
        for (int next = text.indexOf(search); next >= 0; next = text.indexOf(search, next + search.length())) {
            count++;
        }
        a.meter().make(text.length() + count * (replacement.length() - search.length()));
        return text.replace(search, replacement);
    }

    private static Object find(Arguments a) {
        String text = a.text(0);
        String search = a.text(1);
        int at = switch (a.text(2, "leading")) {
            case "leading" -> text.indexOf(search);
            case "trailing" -> text.lastIndexOf(search);
            default -> throw a.failure("the direction must be 'leading' or 'trailing'");
        };
        return at < 0 ? "" : made(a, text.substring(at));
    }

    private static String unescape(Arguments a, String text) {
        a.meter().make(text.length());
        StringBuilder result = new StringBuilder(text.length());
        for (int index = 0; index < text.length(); index++) {
            char c = text.charAt(index);
            if (c != '\\') {
                result.append(c);
                continue;
            }
            if (++index == text.length()) {
                throw a.failure("the text ends with a backslash");
            }
            char escape = text.charAt(index);
            if (escape == 'x') {
                int end = index + 1;
                while (end < text.length() && end < index + 9 && Character.digit(text.charAt(end), 16) >= 0) {
                    end++;
                }
                result.appendCodePoint(codePoint(a, text.substring(index + 1, end)));
                index = end - 1;
            } else {
                result.append(escaped(a, escape));
            }
        }
        return result.toString();
    }

    private static int codePoint(Arguments a, String digits) {
        long code = digits.isEmpty() ? -1 : Long.parseLong(digits, 16);
        if (code < 0 || code > Character.MAX_CODE_POINT || code >= 0xD800 && code <= 0xDFFF) {
            throw a.failure("\\x" + digits + " is no character");
        }
        return (int) code;
    }

    private static char escaped(Arguments a, char escape) {
        return switch (escape) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'v' -> '\u000B';
            case 'a' -> '\u0007';
            case '\'', '"', '\\', '?' -> escape;
            default -> throw a.failure("there is no escape \\" + escape);
        };
    }
}
