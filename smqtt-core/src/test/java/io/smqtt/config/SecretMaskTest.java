// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SecretMaskTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "password",
                "cluster.secret",
                "SMQTT_CLUSTER__SECRET",
                "remote_password",
                "dbPassword",
                "keystorepw",
                "key_store_password",
                "accessToken",
                "apiKey",
                "api-key",
                "credentials.value",
                "passphrase",
                "smqtt.http.admin.passwd",
                "auth_opt_pg_dsn",
                "private.key",
                "node.cookie",
                "tls.key"
            })
    void soundsLikeASecret(String key) {
        assertThat(SecretMask.mayBeSecret(key)).isTrue();
        assertThat(SecretMask.value(key, "x")).isEqualTo(SecretMask.MASK);
    }

    @Test
    void placeholdersAreNoSecrets() {
        assertThat(SecretMask.value("key", "${clientid}")).isEqualTo("${clientid}");
        assertThat(SecretMask.value("key", "${clientid}/${payload.n}")).isEqualTo("${clientid}/${payload.n}");
        assertThat(SecretMask.value("key", "${clientid} x")).isEqualTo(SecretMask.MASK);
        assertThat(SecretMask.value("token", "Bearer ${x}")).isEqualTo(SecretMask.MASK);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "listeners.tcp.port",
                "password-file",
                "access.password-file",
                "management.token-file",
                "access.backends.people.hash.salt-position",
                "keep-alive",
                "host",
                "monkey",
                "passive"
            })
    void doesNotSoundLikeASecret(String key) {
        assertThat(SecretMask.mayBeSecret(key)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "limits.max-in-flight   | limits.max-in-flight",
                "rules[0].name          | rules[0].name",
                "password=x             | password…",
                "\"password\":\"x\",    | password…",
                "secret:x               | secret…",
                "cluster.secret.x       | cluster.secret…",
                "=x                     | …",
            })
    void aKeyIsShownAsFarAsItIsAName(String text, String shown) {
        assertThat(SecretMask.key(text)).isEqualTo(shown);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "http://a:x@host/p            | http://***@host/p",
                "http://host/?db=1&token=x    | http://host/?db=1&token=***",
                "cannot read password=x now   | cannot read password=*** now",
                "\"secret\": \"x y\", \"a\":1 | \"secret\": ***, \"a\":1",
                "port: 1883                   | port: 1883",
                "--set takes KEY=VALUE, or no | --set takes KEY=VALUE, or no",
                "(KEY=VALUE)                  | (KEY=VALUE)",
                "KEY=VALUES                   | KEY=***",
            })
    void whatSomebodyElseSaysIsMasked(String text, String shown) {
        assertThat(SecretMask.text(text)).isEqualTo(shown);
    }

    @Test
    void urlsAreShownWithoutUserAndQuery() {
        assertThat(SecretMask.url("http://a:x@host:1/p?token=x")).isEqualTo("http://host:1/p");
        assertThat(SecretMask.url("file:/etc/passwd")).isEqualTo("file:/etc/passwd");
        assertThat(SecretMask.url("a:x@host")).isEqualTo(SecretMask.MASK);
        assertThat(SecretMask.url("http://ho st/x")).isEqualTo(SecretMask.MASK);
    }

    @Test
    void aKeyInThePlaceOfItsFileIsNotShown() {
        assertThat(SecretMask.path(Path.of("/etc/key.pem"))).isEqualTo("/etc/key.pem");
        assertThat(SecretMask.path(Path.of("/etc/-----BEGIN PRIVATE KEY-----x")))
                .isEqualTo(SecretMask.MASK);
        assertThat(SecretMask.path(Path.of("a\nb"))).isEqualTo(SecretMask.MASK);
    }
}
