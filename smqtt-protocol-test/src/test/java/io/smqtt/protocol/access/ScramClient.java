// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.access;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/** The client's side of one SCRAM-SHA-256 exchange (RFC 5802, section 3), without the broker's code. */
final class ScramClient {

    private static final String NONCE = "client+nonce";

    private final String password;
    private final String bare;
    private String authMessage = "";
    private byte[] salted = {};

    ScramClient(String userName, String password) {
        this.password = password;
        this.bare = "n=" + userName + ",r=" + NONCE;
    }

    byte[] first() {
        return utf8("n,," + bare);
    }

    byte[] answer(byte[] challenge) {
        String serverFirst = new String(challenge, StandardCharsets.UTF_8);
        String[] parts = serverFirst.split(",");
        salted = pbkdf2(Base64.getDecoder().decode(parts[1].substring(2)), Integer.parseInt(parts[2].substring(2)));
        String withoutProof = "c=biws," + parts[0];
        authMessage = bare + ',' + serverFirst + ',' + withoutProof;
        byte[] proof = hmac(salted, "Client Key");
        byte[] signature = hmac(sha256(proof), authMessage);
        for (int i = 0; i < proof.length; i++) {
            proof[i] ^= signature[i];
        }
        return utf8(withoutProof + ",p=" + Base64.getEncoder().encodeToString(proof));
    }

    /** What a server that knows the password says last. */
    byte[] expectedEnd() {
        byte[] signature = hmac(hmac(salted, "Server Key"), authMessage);
        return utf8("v=" + Base64.getEncoder().encodeToString(signature));
    }

    private byte[] pbkdf2(byte[] salt, int iterations) {
        try {
            return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                    .generateSecret(new PBEKeySpec(password.toCharArray(), salt, iterations, 256))
                    .getEncoded();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] hmac(byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(utf8(text));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] sha256(byte[] data) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(data);
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
