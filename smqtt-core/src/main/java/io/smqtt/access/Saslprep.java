// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import org.jspecify.annotations.Nullable;

/**
 * Normalizes user names and passwords before they are hashed or compared (RFC 4013): maps all spaces to one, removes invisible characters,
 * replaces compatible characters, and rejects characters that cannot be typed. Accepts code points that Unicode did not assign in 2002, as
 * the RFC specifies for queries.
 */
final class Saslprep {

    private Saslprep() {}

    /** The prepared UTF-8; null if the bytes are not UTF-8 or contain prohibited characters. */
    static byte @Nullable [] prepare(byte[] utf8) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(utf8))
                    .toString();
            String prepared = prepare(text);
            return prepared == null ? null : prepared.getBytes(StandardCharsets.UTF_8);
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /** The prepared text; null if it contains prohibited characters. */
    static @Nullable String prepare(String text) {
        if (isPrintableAscii(text)) {
            return text;
        }
        StringBuilder mapped = new StringBuilder(text.length());
        text.codePoints().filter(c -> !isMappedToNothing(c)).forEach(c -> mapped.appendCodePoint(isSpace(c) ? ' ' : c));
        String prepared = Normalizer.normalize(mapped, Normalizer.Form.NFKC);
        boolean prohibited = prepared.codePoints().anyMatch(Saslprep::isProhibited);
        return prohibited || !isOneDirection(prepared) ? null : prepared;
    }

    private static boolean isPrintableAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < ' ' || text.charAt(i) > '~') {
                return false;
            }
        }
        return true;
    }

    /** RFC 3454, table C.1.2. */
    private static boolean isSpace(int c) {
        return Character.getType(c) == Character.SPACE_SEPARATOR || c == 0x200B;
    }

    /** RFC 3454, table B.1, except U+200B, which RFC 4013 lists both here and among the spaces. */
    private static boolean isMappedToNothing(int c) {
        return c == 0xAD
                || c == 0x34F
                || c == 0x1806
                || (c >= 0x180B && c <= 0x180D)
                || c == 0x200C
                || c == 0x200D
                || c == 0x2060
                || (c >= 0xFE00 && c <= 0xFE0F)
                || c == 0xFEFF;
    }

    /** RFC 3454, tables C.2.1 to C.9. */
    private static boolean isProhibited(int c) {
        int type = Character.getType(c);
        return type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.PRIVATE_USE
                || type == Character.SURROGATE
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR
                || (c & 0xFFFE) == 0xFFFE
                || (c >= 0xFDD0 && c <= 0xFDEF)
                || (c >= 0xFFF9 && c <= 0xFFFD)
                || (c >= 0x2FF0 && c <= 0x2FFB)
                || c == 0x340
                || c == 0x341
                || (c >= 0xE0000 && c <= 0xE007F);
    }

    /** RFC 3454, section 6: text with right-to-left letters begins and ends with one and contains no left-to-right letter. */
    private static boolean isOneDirection(String text) {
        if (text.codePoints().noneMatch(Saslprep::isRightToLeft)) {
            return true;
        }
        return text.codePoints()
                        .noneMatch(c -> Character.getDirectionality(c) == Character.DIRECTIONALITY_LEFT_TO_RIGHT)
                && isRightToLeft(text.codePointAt(0))
                && isRightToLeft(text.codePointBefore(text.length()));
    }

    private static boolean isRightToLeft(int c) {
        byte direction = Character.getDirectionality(c);
        return direction == Character.DIRECTIONALITY_RIGHT_TO_LEFT
                || direction == Character.DIRECTIONALITY_RIGHT_TO_LEFT_ARABIC;
    }
}
