// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Makes tokens from texts, also such as no library makes. */
final class Tokens {

    static final String SECRET = "0123456789abcdef0123456789abcdef";
    static final KeyPair RSA = pair("RSA");
    static final KeyPair OTHER_RSA = pair("RSA");
    static final KeyPair CURVE = pair("EC");
    static final KeyPair EDWARDS = pair("Ed25519");

    private Tokens() {}

    private static KeyPair pair(String kind) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance(kind);
            if (kind.equals("RSA")) {
                generator.initialize(2048);
            } else if (kind.equals("EC")) {
                generator.initialize(new ECGenParameterSpec("secp256r1"));
            }
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    static String hmac(byte[] secret, String header, String claims) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            String signed = unsigned(header, claims);
            return signed + "." + encode(mac.doFinal(signed.getBytes(StandardCharsets.US_ASCII)));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    static String hmac(String claims) {
        return hmac(SECRET.getBytes(StandardCharsets.US_ASCII), "{\"alg\":\"HS256\"}", claims);
    }

    static String signed(PrivateKey key, String algorithm, String header, String claims) {
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            String signed = unsigned(header, claims);
            signature.update(signed.getBytes(StandardCharsets.US_ASCII));
            return signed + "." + encode(signature.sign());
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    static String rsa(KeyPair pair, String header, String claims) {
        return signed(pair.getPrivate(), "SHA256withRSA", header, claims);
    }

    static String unsigned(String header, String claims) {
        return encode(header.getBytes(StandardCharsets.UTF_8)) + "." + encode(claims.getBytes(StandardCharsets.UTF_8));
    }

    static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    static String pem(KeyPair pair) {
        return "-----BEGIN PUBLIC KEY-----\n"
                + Base64.getMimeEncoder().encodeToString(pair.getPublic().getEncoded())
                + "\n-----END PUBLIC KEY-----\n";
    }

    static Path write(Path directory, String name, String text) throws java.io.IOException {
        return Files.writeString(directory.resolve(name), text);
    }
}
