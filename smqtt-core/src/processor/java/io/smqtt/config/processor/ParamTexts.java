// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config.processor;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The texts of the parameters in a Javadoc comment. */
final class ParamTexts {

    private static final Pattern PARAM = Pattern.compile("(?sm)^\\s*@param\\s+(\\w+)\\s+(.*?)\\s*(?=^\\s*@\\w|\\z)");
    private static final String CODE = "{@code ";

    private ParamTexts() {}

    /** {@return name to text, each on one line} */
    static Map<String, String> of(String comment) {
        Map<String, String> texts = new HashMap<>();
        Matcher params = PARAM.matcher(comment);
        while (params.find()) {
            texts.put(params.group(1), params.group(2).replaceAll("\\s+", " "));
        }
        return texts;
    }

    /** {@return a text for pages that are not Javadoc: code between backquotes} */
    static String plain(String text) {
        StringBuilder plain = new StringBuilder();
        int from = 0;
        for (int code = text.indexOf(CODE); code >= 0; code = text.indexOf(CODE, from)) {
            int end = closing(text, code);
            plain.append(text, from, code)
                    .append('`')
                    .append(text, code + CODE.length(), end)
                    .append('`');
            from = end + 1;
        }
        return plain.append(text.substring(from)).toString();
    }

    /** The brace that closes the one at an index; there may be pairs between them. */
    private static int closing(String text, int open) {
        int depth = 0;
        for (int i = open; i < text.length(); i++) {
            char c = text.charAt(i);
            depth += c == '{' ? 1 : c == '}' ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        throw new IllegalArgumentException("a brace is not closed: " + text);
    }
}
