// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import java.io.ByteArrayOutputStream;
import java.security.PublicKey;
import java.util.Arrays;

/**
 * Wraps a private key of PKCS #1 or SEC 1 into PKCS #8 (RFC 5208), the only encoding that the Java platform reads. These keys do not
 * always say what they are for; the certificate does, so its algorithm and curve are used.
 */
final class KeyEncoding {

    private static final int SEQUENCE = 0x30;
    private static final int OCTET_STRING = 0x04;
    private static final byte[] VERSION_0 = {2, 1, 0};

    private KeyEncoding() {}

    /**
     * Wraps a key.
     *
     * @param key in PKCS #1 or SEC 1
     * @param certified the public key that belongs to it
     * @return the key in PKCS #8; one that does not belong to the public key cannot be read as such
     */
    static byte[] pkcs8(byte[] key, PublicKey certified) {
        byte[] info = certified.getEncoded(); // SubjectPublicKeyInfo of RFC 5280: begins with the algorithm
        int at = info[1] < 0 ? 2 + (info[1] & 0x7F) : 2;
        byte[] algorithm = Arrays.copyOfRange(info, at, at + 2 + info[at + 1]);
        return element(SEQUENCE, VERSION_0, algorithm, element(OCTET_STRING, key));
    }

    private static byte[] element(int tag, byte[]... parts) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        ByteArrayOutputStream element = new ByteArrayOutputStream();
        element.write(tag);
        if (content.size() > 0xFF) {
            element.write(0x82); // two bytes of length follow, which is enough for any key in use
            element.write(content.size() >> Byte.SIZE);
        } else if (content.size() > 0x7F) {
            element.write(0x81);
        }
        element.write(content.size());
        element.writeBytes(content.toByteArray());
        return element.toByteArray();
    }
}
