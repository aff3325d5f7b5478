// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.config.ConfigurationException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
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
        assertThat(file("Subject: text before\n" + bundle.getPrivateKeyPEM()).privateKey())
                .isEqualTo(bundle.getKeyPair().getPrivate());
    }

    @Test
    void rsaKeysOfPkcs1AreRead() throws Exception {
        X509Bundle bundle = bundle(CertificateBuilder.Algorithm.rsa2048);
        byte[] pkcs8 = bundle.getKeyPair().getPrivate().getEncoded();
        byte[] pkcs1 = Arrays.copyOfRange(pkcs8, 26, pkcs8.length); // past version and algorithm
        assertThat(file(pem("RSA PRIVATE KEY", pkcs1)).privateKey())
                .isEqualTo(bundle.getKeyPair().getPrivate());
    }

    /** Made by OpenSSL: with the curve in the key, and with the curve in a block of its own. */
    @ParameterizedTest
    @CsvSource({"true", "false"})
    void ellipticKeysOfSec1AreRead(boolean curveInside) throws Exception {
        byte[] oid = {6, 8, 0x2A, (byte) 0x86, 0x48, (byte) 0xCE, 0x3D, 3, 1, 7};
        byte[] number = new byte[32];
        Arrays.fill(number, (byte) 0x11);
        byte[] body = concat(new byte[] {2, 1, 1, 4, 32}, number);
        if (curveInside) {
            body = concat(body, concat(new byte[] {(byte) 0xA0, (byte) oid.length}, oid));
        }
        byte[] sec1 = concat(new byte[] {0x30, (byte) body.length}, body);
        String text = curveInside ? "" : pem("EC PARAMETERS", oid);

        assertThat(file(text + pem("EC PRIVATE KEY", sec1)).privateKey())
                .isInstanceOfSatisfying(
                        java.security.interfaces.ECPrivateKey.class,
                        key -> assertThat(key.getS()).isEqualTo(new java.math.BigInteger(1, number)));
    }

    @ParameterizedTest
    @CsvSource({
        "'', holds no private key",
        "'-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', damaged",
        "'-----BEGIN EC PRIVATE KEY-----\nMAMCAQE=\n-----END EC PRIVATE KEY-----', openssl pkcs8",
        "'-----BEGIN EC PRIVATE KEY-----\nMA==\n-----END EC PRIVATE KEY-----', openssl pkcs8",
        "'-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----', openssl pkcs8",
        "'-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----', decrypt",
        "'-----BEGIN PRIVATE KEY-----\nA\n-----END PRIVATE KEY-----', Base64",
    })
    void aKeyThatCannotBeUsedIsExplained(String text, String reason) {
        assertThatThrownBy(() -> file(text).privateKey())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("the.key")
                .hasMessageContaining(directory.toString())
                .hasMessageContaining(reason);
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
        assertThat(both.privateKey()).isEqualTo(bundle.getKeyPair().getPrivate());
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
