// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PasswordHashTest {

    /** Written by mosquitto_passwd 2.0.11. */
    @ParameterizedTest
    @CsvSource({
        "correct horse, $7$101$moVWaQL9J2cajKqY$5EjrkmVQqtZ3GnaaB5jZNCMrij1hsUirYcJqzKIXnnifgA4gvzfpCJfkM1fb+qxZoFOa9Usx/8wvS0CvHPnfJg==",
        "pässwörd, $7$101$DpIQPb6X4qDq5dky$ZC+OY2vsBssv3GA44+E6RsrEt4oxidTPqWvct2zHsXoxJX+isqmwkSUt4cHxDo684xrmLgnxG1Gx+jT/p+lg4w==",
        "s3cret, $7$5000$AA+iKxATW5U3YTpU$Jj9w434PdU03WwmDN50aWfl6FF1cAm+5W3gmLEO/DOBFYsz1TKx1ylPH5e1gOm8e+iSFCrxZXHcqFrV0XUp6kw==",
        "legacy, $6$tfZGdDJ9+ICAop4h$xaHvPs8sQdS2GoHvuSB3mIf63HYAUedzeRrNfpM0HPfyjeBp7t2v8N1+O7OfpMTuIOLsFyBgWZSM5/L3vd/XOg==",
    })
    void mosquittosHashesMatchTheirPasswordsOnly(String password, String encoded) {
        PasswordHash hash = PasswordHash.parse(encoded);

        assertThat(hash.matches(utf8(password))).isTrue();
        assertThat(hash.matches(utf8(password + "x"))).isFalse();
        assertThat(hash.matches(utf8(""))).isFalse();
        assertThat(hash.encoded()).isEqualTo(encoded);
    }

    /** RFC 6070's inputs with HMAC-SHA-256, as widely published, cut to the length of the hash. */
    @Test
    void pbkdf2GivesThePublishedResults() {
        assertThat(hex(KeyedHash.pbkdf2(KeyedHash.HMAC_SHA_256, utf8("password"), utf8("salt"), 1)))
                .isEqualTo("120fb6cffcf8b32c43e7225256c4f837a86548c92ccc35480805987cb70be17b");
        assertThat(hex(KeyedHash.pbkdf2(KeyedHash.HMAC_SHA_256, utf8("password"), utf8("salt"), 4_096)))
                .isEqualTo("c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a");
    }

    @Test
    void newHashesMatchTheirPasswordAndSurviveWriting() {
        byte[] salt = utf8("0123456789abcdef");
        PasswordHash pbkdf2 = PasswordHash.Pbkdf2Sha512.of(utf8("secret"), salt, 10);
        PasswordHash scram = PasswordHash.ScramSha256.of(utf8("secret"), salt, 4_096);

        for (PasswordHash hash : new PasswordHash[] {pbkdf2, scram}) {
            assertThat(hash.matches(utf8("secret"))).isTrue();
            assertThat(PasswordHash.parse(hash.encoded()).matches(utf8("secret")))
                    .isTrue();
            assertThat(PasswordHash.parse(hash.encoded()).matches(utf8("Secret")))
                    .isFalse();
            assertThat(hash.matches(new byte[] {(byte) 0xFF})).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "plain",
                "$",
                "$5$a$b",
                "$argon2id$v=19$m=1$x$y",
                "$7$101$moVWaQL9J2cajKqY",
                "$7$101$moVWaQL9J2cajKqY$AAAA",
                "$7$101$!!$5EjrkmVQqtZ3GnaaB5jZNCMrij1hsUirYcJqzKIXnnifgA4gvzfpCJfkM1fb+qxZoFOa9Usx/8wvS0CvHPnfJg==",
                "$7$0$moVWaQL9J2cajKqY$5EjrkmVQqtZ3GnaaB5jZNCMrij1hsUirYcJqzKIXnnifgA4gvzfpCJfkM1fb+qxZoFOa9Usx/8wvS0CvHPnfJg==",
                "$7$99999999$moVWaQL9J2cajKqY$5EjrkmVQqtZ3GnaaB5jZNCMrij1hsUirYcJqzKIXnnifgA4gvzfpCJfkM1fb+qxZoFOa9Usx/8wvS0CvHPnfJg==",
                "$7$101$$5EjrkmVQqtZ3GnaaB5jZNCMrij1hsUirYcJqzKIXnnifgA4gvzfpCJfkM1fb+qxZoFOa9Usx/8wvS0CvHPnfJg==",
                "$6$tfZGdDJ9+ICAop4h",
                "$scram-sha-256$4095$W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=$wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
                "$scram-sha-256$4096$W22ZaJ0SNY7soEsUEjb6gQ==$WG5d$wfPL",
            })
    void otherTextIsNoHashAndIsNotRepeated(String text) {
        assertThatThrownBy(() -> PasswordHash.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("5EjrkmVQ");
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
