// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.cert.CertificateFactory;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads public keys from a file in PEM: {@code PUBLIC KEY} or {@code CERTIFICATE}, several for a change of keys. */
final class PublicKeyFile {

    private static final long MAXIMUM_BYTES = 64 * 1024;
    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\\s]*)-----END \\1-----");
    private static final List<String> KINDS = List.of("RSA", "EC", "Ed25519");

    private PublicKeyFile() {}

    /**
     * Reads the keys of a file. Blocks.
     *
     * @throws IllegalArgumentException if it has no key that can be used; the message continues a sentence that begins with the key
     */
    static List<VerificationKey> read(Path file) {
        String text = text(file);
        List<VerificationKey> keys = new ArrayList<>();
        Matcher block = BLOCK.matcher(text);
        while (block.find()) {
            PublicKey key = key(file, block.group(1), block.group(2));
            try {
                keys.add(VerificationKey.of(null, key));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "names " + file + ", whose key " + (keys.size() + 1) + " " + e.getMessage());
            }
        }
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("names " + file + ", which has no public key in PEM");
        }
        if (keys.size() > KeySource.MAXIMUM_TRIES) {
            throw new IllegalArgumentException(
                    "names " + file + ", which has more than " + KeySource.MAXIMUM_TRIES + " public keys");
        }
        return keys;
    }

    /** Reads a file of at most 64 KiB. */
    static String text(Path file) {
        try {
            if (Files.size(file) > MAXIMUM_BYTES) {
                throw new IllegalArgumentException("names " + file + ", which has more than 64 KiB");
            }
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalArgumentException("names " + file + ", which cannot be read");
        }
    }

    private static PublicKey key(Path file, String label, String body) {
        try {
            byte[] bytes = Base64.getMimeDecoder().decode(body);
            switch (label) {
                case "CERTIFICATE" -> {
                    return CertificateFactory.getInstance("X.509")
                            .generateCertificate(new ByteArrayInputStream(bytes))
                            .getPublicKey();
                }
                case "PUBLIC KEY" -> {
                    return key(bytes);
                }
                default ->
                    throw new IllegalArgumentException("names " + file + ", which has a " + label
                            + ", but must have a PUBLIC KEY; make one with: openssl pkey -in KEY -pubout");
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "names " + file + ", which has a " + label + " that is not one of RSA, EC or Ed25519");
        }
    }

    private static PublicKey key(byte[] bytes) throws GeneralSecurityException {
        for (String kind : KINDS) {
            try {
                return KeyFactory.getInstance(kind).generatePublic(new X509EncodedKeySpec(bytes));
            } catch (GeneralSecurityException e) {
                // of another kind
            }
        }
        throw new GeneralSecurityException("a key of an unknown kind");
    }
}
