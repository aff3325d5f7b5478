// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The two messages of a SCRAM client (RFC 5802, section 7). Parsing returns null for any other input.
 */
final class ScramClientMessage {

    private static final int MAXIMUM_BYTES = 8_192;
    private static final int MAXIMUM_NONCE = 512;

    private ScramClientMessage() {}

    /**
     * The client-first message.
     *
     * @param header the GS2 header, {@code n,,} or {@code y,,}
     * @param bare the text after the header
     * @param userName the user, before SASLprep
     * @param nonce the client nonce
     */
    record First(String header, String bare, String userName, String nonce) {}

    /**
     * The client-final message.
     *
     * @param withoutProof the part that the proof covers
     * @param channelBinding the Base64 of the GS2 header
     * @param nonce client and server nonce
     * @param proof the Base64 of the proof
     */
    record Final(String withoutProof, String channelBinding, String nonce, String proof) {}

    static @Nullable First first(byte @Nullable [] data) {
        String text = text(data);
        if (text == null || !(text.startsWith("n,,") || text.startsWith("y,,"))) {
            return null;
        }
        String bare = text.substring(3);
        String name = attribute(bare, 0, 'n');
        String nonce = name == null ? null : attribute(bare, name.length() + 3, 'r');
        String userName = name == null ? null : unescape(name);
        return nonce == null || userName == null || userName.isEmpty() || !isNonce(nonce)
                ? null
                : new First(text.substring(0, 3), bare, userName, nonce);
    }

    static @Nullable Final last(byte @Nullable [] data) {
        String text = text(data);
        int proofStart = text == null ? -1 : text.lastIndexOf(",p=");
        if (text == null || proofStart < 0) {
            return null;
        }
        String withoutProof = text.substring(0, proofStart);
        String binding = attribute(withoutProof, 0, 'c');
        String nonce = binding == null ? null : attribute(withoutProof, binding.length() + 3, 'r');
        return binding == null || nonce == null
                ? null
                : new Final(withoutProof, binding, nonce, text.substring(proofStart + 3));
    }

    /** The value of {@code name=value} at an index, up to the next comma. Extensions may follow. */
    private static @Nullable String attribute(String text, int start, char name) {
        if (start + 2 > text.length() || text.charAt(start) != name || text.charAt(start + 1) != '=') {
            return null;
        }
        int comma = text.indexOf(',', start);
        return text.substring(start + 2, comma < 0 ? text.length() : comma);
    }

    /** Decodes =2C to a comma and =3D to an equals sign; any other equals sign is an error. */
    private static @Nullable String unescape(String name) {
        StringBuilder plain = new StringBuilder(name.length());
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == '=') {
                boolean comma = name.startsWith("2C", i + 1);
                if (!comma && !name.startsWith("3D", i + 1)) {
                    return null;
                }
                c = comma ? ',' : '=';
                i += 2;
            }
            plain.append(c);
        }
        return plain.toString();
    }

    private static boolean isNonce(String nonce) {
        for (int i = 0; i < nonce.length(); i++) {
            if (nonce.charAt(i) < '!' || nonce.charAt(i) > '~') {
                return false;
            }
        }
        return !nonce.isEmpty() && nonce.length() <= MAXIMUM_NONCE;
    }

    private static @Nullable String text(byte @Nullable [] data) {
        if (data == null || data.length > MAXIMUM_BYTES) {
            return null;
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(data))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
