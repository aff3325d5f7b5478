// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.config.ConfigurationException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class PemFileTest {

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(
            value = CertificateBuilder.Algorithm.class,
            names = {"rsa2048", "ecp256", "ecp384", "ed25519"})
    void keysOfPkcs8AreRead(CertificateBuilder.Algorithm algorithm) throws Exception {
        X509Bundle bundle = bundle(algorithm);
        assertThat(key("Subject: text before\n" + bundle.getPrivateKeyPEM(), bundle))
                .isEqualTo(bundle.getKeyPair().getPrivate());
    }

    @ParameterizedTest
    @EnumSource(
            value = CertificateBuilder.Algorithm.class,
            names = {"rsa2048", "rsa4096"})
    void rsaKeysOfPkcs1AreRead(CertificateBuilder.Algorithm algorithm) throws Exception {
        X509Bundle bundle = bundle(algorithm);
        byte[] pkcs8 = bundle.getKeyPair().getPrivate().getEncoded();
        byte[] pkcs1 = Arrays.copyOfRange(pkcs8, 26, pkcs8.length); // past version and algorithm
        assertThat(key(pem("RSA PRIVATE KEY", pkcs1), bundle))
                .isEqualTo(bundle.getKeyPair().getPrivate());
    }

    /** As OpenSSL makes them: with the curve in the key, with the curve in a block of its own, and without it. */
    @ParameterizedTest
    @CsvSource({
        "ecp256, 06082A8648CE3D030107, INSIDE",
        "ecp256, 06082A8648CE3D030107, BESIDE",
        "ecp256, 06082A8648CE3D030107, NOWHERE",
        "ecp384, 06052B81040022, INSIDE",
    })
    void ellipticKeysOfSec1AreRead(CertificateBuilder.Algorithm algorithm, String curve, Place place) throws Exception {
        X509Bundle bundle = bundle(algorithm);
        ECPrivateKey expected = (ECPrivateKey) bundle.getKeyPair().getPrivate();
        byte[] oid = HexFormat.of().parseHex(curve);
        byte[] number = new byte[(expected.getParams().getOrder().bitLength() + 7) / 8];
        byte[] value = expected.getS().toByteArray();
        int length = Math.min(value.length, number.length);
        System.arraycopy(value, value.length - length, number, number.length - length, length);
        byte[] body = concat(new byte[] {2, 1, 1, 4, (byte) number.length}, number);
        if (place == Place.INSIDE) {
            body = concat(body, concat(new byte[] {(byte) 0xA0, (byte) oid.length}, oid));
        }
        byte[] sec1 = concat(new byte[] {0x30, (byte) body.length}, body);
        String text = place == Place.BESIDE ? pem("EC PARAMETERS", oid) : "";

        assertThat(key(text + pem("EC PRIVATE KEY", sec1), bundle))
                .isInstanceOfSatisfying(
                        ECPrivateKey.class, key -> assertThat(key.getS()).isEqualTo(expected.getS()));
    }

    private enum Place {
        INSIDE,
        BESIDE,
        NOWHERE
    }

    @ParameterizedTest
    @CsvSource({
        "'', holds no private key",
        "'-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', damaged",
        "'-----BEGIN EC PRIVATE KEY-----\nMAMCAQE=\n-----END EC PRIVATE KEY-----', openssl pkcs8",
        "'-----BEGIN EC PRIVATE KEY-----\nMA==\n-----END EC PRIVATE KEY-----', openssl pkcs8",
        "'-----BEGIN RSA PRIVATE KEY-----\nMA==\n-----END RSA PRIVATE KEY-----', 'for RSA, but the certificate is for EC'",
        "'-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----', openssl pkcs8",
        "'-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----', decrypt",
        "'-----BEGIN PRIVATE KEY-----\nA\n-----END PRIVATE KEY-----', Base64",
    })
    void aKeyThatCannotBeUsedIsExplained(String text, String reason) throws Exception {
        X509Bundle bundle = bundle(CertificateBuilder.Algorithm.ecp256);
        assertThatThrownBy(() -> key(text, bundle))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("the.key")
                .hasMessageContaining(directory.toString())
                .hasMessageContaining(reason);
    }

    @Test
    void theWholeCommandThatConvertsAKeyIsShown() throws Exception {
        X509Bundle bundle = bundle(CertificateBuilder.Algorithm.ecp256);
        Path file = directory.resolve("file.pem");
        assertThatThrownBy(() -> key(pem("EC PRIVATE KEY", new byte[] {0x30, 0}), bundle))
                .hasMessageEndingWith("openssl pkcs8 -topk8 -nocrypt -in " + file + " -out " + file + ".pkcs8");
    }

    @ParameterizedTest
    @CsvSource({
        "'', holds no certificate",
        "'-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', damaged",
    })
    void aCertificateThatCannotBeUsedIsExplained(String text, String reason) {
        assertThatThrownBy(() -> file(text).certificates())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(directory.toString())
                .hasMessageContaining(reason);
    }

    @Test
    void aMissingFileIsNamed() {
        assertThatThrownBy(() -> new PemFile("the.key", directory.resolve("none.pem")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("the.key")
                .hasMessageContaining("none.pem does not exist");
    }

    @Test
    void aDirectoryIsNoFile() {
        assertThatThrownBy(() -> new PemFile("the.key", directory))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("cannot be read");
    }

    @Test
    void keyAndChainMayShareAFile() throws Exception {
        X509Bundle bundle = bundle(CertificateBuilder.Algorithm.ecp256);
        PemFile both = file(bundle.getPrivateKeyPEM() + bundle.getCertificatePEM() + bundle.getCertificatePEM());
        assertThat(both.certificates()).containsExactly(bundle.getCertificate(), bundle.getCertificate());
        assertThat(both.privateKey(bundle.getCertificate().getPublicKey()))
                .isEqualTo(bundle.getKeyPair().getPrivate());
    }

    private PrivateKey key(String text, X509Bundle bundle) throws Exception {
        return file(text).privateKey(bundle.getCertificate().getPublicKey());
    }

    private PemFile file(String text) throws Exception {
        Path file = directory.resolve("file.pem");
        Files.writeString(file, text);
        return new PemFile("the.key", file);
    }

    private static X509Bundle bundle(CertificateBuilder.Algorithm algorithm) throws Exception {
        return new CertificateBuilder()
                .algorithm(algorithm)
                .subject("CN=test")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
    }

    private static String pem(String type, byte[] der) {
        return "-----BEGIN " + type + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END " + type
                + "-----\n";
    }

    private static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }
}
