// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import org.jspecify.annotations.Nullable;

/**
 * Makes text of peers safe for logs and terminals: no control characters, escape sequences or line breaks, no characters that change the writing
 * direction, and at most {@value #MAX_CHARS} characters. Idempotent. Text without unsafe characters is returned unchanged.
 */
public final class LogText {

    /** Maximum length of text that is shown completely, in UTF-16 characters. */
    public static final int MAX_CHARS = 256;

    private LogText() {}

    /**
     * Escapes and shortens a text of a peer.
     *
     * @param text client identifier, user name, topic, reason string or the like; null is shown as {@code -}
     * @return at most {@value #MAX_CHARS} characters and an ellipsis
     */
    public static String escape(@Nullable String text) {
        if (text == null) {
            return "-";
        }
        boolean whole = text.length() <= MAX_CHARS;
        String escaped = escapeControls(whole ? text : text.substring(0, MAX_CHARS));
        if (escaped.length() > MAX_CHARS) {
            return escaped.substring(0, MAX_CHARS) + "…";
        }
        return whole ? escaped : escaped + "…";
    }

    /**
     * Escapes a text without shortening it.
     *
     * @param text any text
     * @return the text with every unsafe character as four hexadecimal digits after a backslash and a u
     */
    public static String escapeControls(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (unsafe(text, i)) {
                return rewrite(text, i);
            }
        }
        return text;
    }

    private static String rewrite(String text, int from) {
        StringBuilder escaped = new StringBuilder(text.length() + 16).append(text, 0, from);
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (unsafe(text, i)) {
                escaped.append("\\u").append(Character.forDigit(c >> 12, 16));
                escaped.append(Character.forDigit((c >> 8) & 0xf, 16));
                escaped.append(Character.forDigit((c >> 4) & 0xf, 16)).append(Character.forDigit(c & 0xf, 16));
            } else {
                escaped.append(c);
            }
        }
        return escaped.toString();
    }

    private static boolean unsafe(String text, int index) {
        char c = text.charAt(index);
        if (c < 0x7f) {
            return c < ' ';
        }
        return c <= 0x9f || turnsOrBreaks(c) || (Character.isSurrogate(c) && alone(text, index));
    }

    /** Whether a character is a line or paragraph separator, changes the writing direction, or is a byte order mark or non-character. */
    private static boolean turnsOrBreaks(char c) {
        return (c >= 0x200b && c <= 0x200f)
                || (c >= 0x2028 && c <= 0x202e)
                || (c >= 0x2066 && c <= 0x2069)
                || c == 0x061c
                || c == 0xfeff
                || c >= 0xfffe;
    }

    private static boolean alone(String text, int index) {
        char c = text.charAt(index);
        if (Character.isHighSurrogate(c)) {
            return index + 1 == text.length() || !Character.isLowSurrogate(text.charAt(index + 1));
        }
        return index == 0 || !Character.isHighSurrogate(text.charAt(index - 1));
    }
}
