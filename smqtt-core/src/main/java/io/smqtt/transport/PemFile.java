// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.smqtt.config.ConfigurationException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A PEM file with certificates or a private key. Every failure is a {@link ConfigurationException} with the file and the remedy. The
 * constructor reads the file, so it may block.
 */
final class PemFile {

    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\\s]+)-----END \\1-----");
    private static final List<String> KEY_ALGORITHMS = List.of("RSA", "EC", "EdDSA", "RSASSA-PSS");
    private static final long MAX_BYTES = 1 << 20;

    private final String key;
    private final Path path;
    private final String text;
    private final List<Block> blocks;

    /**
     * Reads a file.
     *
     * @param key the configuration key that names it, for messages
     * @param path the file
     */
    PemFile(String key, Path path) {
        this.key = key;
        this.path = path;
        this.text = read();
        this.blocks = parse();
    }

    /** All certificates, in the order of the file; at least one. */
    X509Certificate[] certificates() {
        List<X509Certificate> certificates = new ArrayList<>();
        for (Block block : blocks) {
            if (block.type.equals("CERTIFICATE") || block.type.equals("X509 CERTIFICATE")) {
                certificates.add(certificate(block.der));
            }
        }
        if (certificates.isEmpty()) {
            throw invalid("holds no certificate in PEM form", null);
        }
        return certificates.toArray(X509Certificate[]::new);
    }

    /**
     * The private key, unencrypted: PKCS #8, or PKCS #1 for RSA, or SEC 1 for elliptic curves.
     *
     * @param certified the public key of its certificate, for the parameters that older encodings leave out
     */
    PrivateKey privateKey(PublicKey certified) {
        if (text.contains("ENCRYPTED")) {
            throw invalid("holds an encrypted key; " + conversion("decrypt"), null);
        }
        for (Block block : blocks) {
            switch (block.type) {
                case "PRIVATE KEY" -> {
                    return privateKey(block.der);
                }
                case "RSA PRIVATE KEY" -> {
                    return olderKey("RSA", block.der, certified);
                }
                case "EC PRIVATE KEY" -> {
                    return olderKey("EC", block.der, certified);
                }
                default -> {
                    // something else in the same file
                }
            }
        }
        throw invalid("holds no private key in PEM form", null);
    }

    private PrivateKey olderKey(String algorithm, byte[] der, PublicKey certified) {
        if (!certified.getAlgorithm().equals(algorithm)) {
            throw invalid(
                    "holds a key for " + algorithm + ", but the certificate is for " + certified.getAlgorithm(), null);
        }
        try {
            return KeyFactory.getInstance(algorithm)
                    .generatePrivate(new PKCS8EncodedKeySpec(KeyEncoding.pkcs8(der, certified)));
        } catch (GeneralSecurityException e) {
            throw invalid("holds a damaged key, or one that Java cannot read; " + conversion("convert"), e);
        }
    }

    private String conversion(String verb) {
        return verb + " it with: openssl pkcs8 -topk8 -nocrypt -in " + path + " -out " + path + ".pkcs8";
    }

    ConfigurationException invalid(String what, @Nullable Throwable cause) {
        return new ConfigurationException(key + ": " + path + " " + what, cause);
    }

    private PrivateKey privateKey(byte[] pkcs8) {
        GeneralSecurityException last = null;
        for (String algorithm : KEY_ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
            } catch (InvalidKeySpecException e) {
                last = e; // a key of another algorithm
            } catch (GeneralSecurityException e) {
                last = e; // not supported by this JVM
            }
        }
        throw invalid("holds a key that is neither RSA nor EC nor EdDSA, or damaged", last);
    }

    private X509Certificate certificate(byte[] der) {
        try {
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
        } catch (CertificateException e) {
            throw invalid("holds a damaged certificate: " + e.getMessage(), e);
        }
    }

    private String read() {
        try {
            if (Files.size(path) > MAX_BYTES) {
                throw invalid("is too large for a PEM file", null);
            }
            return Files.readString(path, StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            throw invalid("does not exist", e);
        } catch (IOException e) {
            throw invalid("cannot be read: " + e, e);
        }
    }

    private List<Block> parse() {
        List<Block> found = new ArrayList<>();
        Matcher matcher = BLOCK.matcher(text);
        while (matcher.find()) {
            try {
                found.add(new Block(matcher.group(1), Base64.getMimeDecoder().decode(matcher.group(2))));
            } catch (IllegalArgumentException e) {
                throw invalid("is not valid Base64", e);
            }
        }
        return found;
    }

    private record Block(String type, byte[] der) {}
}
