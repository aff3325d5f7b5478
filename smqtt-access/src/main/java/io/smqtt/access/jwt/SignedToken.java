// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.util.Base64URL;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import org.jspecify.annotations.Nullable;

/**
 * A token in its compact form, taken apart; its signature is not checked yet.
 *
 * @param header the header, whose algorithm is one of a signature
 * @param signed the bytes that are signed
 * @param payload the claims
 * @param signature the signature
 */
record SignedToken(JWSHeader header, byte[] signed, Base64URL payload, Base64URL signature) {

    /** The longest token that is looked at. */
    static final int MAXIMUM_CHARS = 8 * 1024;

    private static final int MAXIMUM_HEADER_CHARS = 2 * 1024;

    /**
     * Takes a token apart.
     *
     * @param text at most {@value #MAXIMUM_CHARS} characters
     * @return null if it is no signed token that can be used: without signature, encrypted, with a payload elsewhere, or with extensions
     *     that must be understood
     */
    static @Nullable SignedToken parse(String text) {
        int first = text.indexOf('.');
        int second = text.indexOf('.', first + 1);
        if (first <= 0
                || first > MAXIMUM_HEADER_CHARS
                || second <= first + 1
                || second == text.length() - 1
                || !isBase64Url(text)) {
            return null;
        }
        try {
            JWSHeader header = JWSHeader.parse(new Base64URL(text.substring(0, first)));
            if (header.getCriticalParams() != null || !header.isBase64URLEncodePayload()) {
                return null;
            }
            return new SignedToken(
                    header,
                    text.substring(0, second).getBytes(StandardCharsets.US_ASCII),
                    new Base64URL(text.substring(first + 1, second)),
                    new Base64URL(text.substring(second + 1)));
        } catch (ParseException | RuntimeException e) {
            return null; // whatever a parser makes of hostile text, it is no token
        }
    }

    /** Whether a text has two dots, and otherwise only characters of Base64 for URLs. */
    private static boolean isBase64Url(String text) {
        int dots = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '.') {
                dots++;
            } else if (!(c >= 'a' && c <= 'z'
                    || c >= 'A' && c <= 'Z'
                    || c >= '0' && c <= '9'
                    || c == '-'
                    || c == '_')) {
                return false;
            }
        }
        return dots == 2;
    }
}
