// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBufUtil;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Wraps the older encodings of private keys into PKCS #8 (RFC 5208), the only one that the Java platform reads. */
final class KeyEncoding {

    private static final int INTEGER = 0x02;
    private static final int OCTET_STRING = 0x04;
    private static final int SEQUENCE = 0x30;
    private static final int PARAMETERS = 0xA0; // of RFC 5915, section 3

    private static final byte[] VERSION_0 = {INTEGER, 1, 0};
    private static final byte[] RSA_ALGORITHM = ByteBufUtil.decodeHexDump("300d06092a864886f70d0101010500");
    private static final byte[] EC_OID = ByteBufUtil.decodeHexDump("06072a8648ce3d0201");

    private KeyEncoding() {}

    static byte[] pkcs8OfRsa(byte[] pkcs1) {
        return element(SEQUENCE, VERSION_0, RSA_ALGORITHM, element(OCTET_STRING, pkcs1));
    }

    /**
     * Wraps a key of RFC 5915.
     *
     * @param sec1 the key
     * @param curve the encoded name of the curve, used if the key does not hold it
     * @return the key in PKCS #8
     * @throws IllegalArgumentException if it is damaged, or the curve is unknown; also IndexOutOfBoundsException
     */
    static byte[] pkcs8OfEc(byte[] sec1, byte @Nullable [] curve) {
        byte[] named = curveOf(sec1);
        byte[] parameters = named == null ? curve : named;
        if (parameters == null) {
            throw new IllegalArgumentException("no curve");
        }
        return element(SEQUENCE, VERSION_0, element(SEQUENCE, EC_OID, parameters), element(OCTET_STRING, sec1));
    }

    private static byte @Nullable [] curveOf(byte[] sec1) {
        int at = contentOf(sec1, 0); // into the sequence
        at = after(sec1, at); // version
        at = after(sec1, at); // private value
        if (at >= sec1.length || (sec1[at] & 0xFF) != PARAMETERS) {
            return null;
        }
        return Arrays.copyOfRange(sec1, contentOf(sec1, at), after(sec1, at));
    }

    private static int contentOf(byte[] der, int at) {
        int first = der[at + 1] & 0xFF;
        return at + 2 + (first < 0x80 ? 0 : first & 0x7F);
    }

    private static int after(byte[] der, int at) {
        int content = contentOf(der, at);
        int length = der[at + 1] & 0xFF;
        if (length >= 0x80) {
            length = 0;
            for (int i = at + 2; i < content; i++) {
                length = length << Byte.SIZE | der[i] & 0xFF;
            }
        }
        return content + length;
    }

    private static byte[] element(int tag, byte[]... parts) {
        int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
        byte[] head = head(tag, length);
        byte[] whole = Arrays.copyOf(head, head.length + length);
        int at = head.length;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, whole, at, part.length);
            at += part.length;
        }
        return whole;
    }

    private static byte[] head(int tag, int length) {
        if (length < 0x80) {
            return new byte[] {(byte) tag, (byte) length};
        }
        if (length <= 0xFF) {
            return new byte[] {(byte) tag, (byte) 0x81, (byte) length};
        }
        if (length <= 0xFFFF) {
            return new byte[] {(byte) tag, (byte) 0x82, (byte) (length >> 8), (byte) length};
        }
        throw new IllegalArgumentException("key of " + length + " bytes");
    }
}
