// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.access.ldap.LdapPassword.Match;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Values of {@code userPassword} that {@code slappasswd} and OpenLDAP's modules have made of {@code secret}. */
class LdapPasswordTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "secret",
                "{CLEARTEXT}secret",
                "{SSHA}P1+3zAc/WkUsFbGKhiTEzEp7D2XeFgsQ",
                "{ssha}P1+3zAc/WkUsFbGKhiTEzEp7D2XeFgsQ",
                "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=",
                "{SMD5}YKGYV6DTBdWCTUQ4AEjdrKZtArI=",
                "{MD5}Xr4ilOzQ4PCOq3aQ0qbuaQ==",
                "{SHA256}K7gNU3sdo+OL0wNhqoVWhr3g6s1xYv72ol/pe/Unols=",
                "{SHA512}vSsar3708Jvp9Szi2NWZZ02Bqp1qRCFpbcTZPdBhnWgs5WtNZKnvCXdhztmeD2cmW192CF5bDufKRpayrW/isg==",
                "{SSHA256}oBmrdHcA6OZEkkCLeXh71YAerbvhXz1qqwjrPsXmEtNzYWx0c2FsdA==",
                "{SSHA384}xZjeLqA5S5k50pfYWOduoMpyOadNQ2hKzVUikzLgZ/JSGpE4X/aVRUUuwOH25+Urc2FsdHNhbHQ=",
                "{SSHA512}aCu7JRc+kLsuEmFs1zTY+AiP7DSGnjjG+dH28Dp+E5usqoAixeTPihKqZmkWal4mUfp63tqvCAkFV1LKTDFH6XNhbHRzYWx0",
                "e1NIQX01ZW42RzZNZXpScm9UM1hLcWtkUE9tWS9CZlE9"
            })
    void aValueMatchesItsPasswordOnly(String stored) {
        assertThat(match(stored, "secret")).isEqualTo(Match.YES);
        assertThat(match(stored, "secre")).isEqualTo(Match.NO);
        assertThat(match(stored, "secret ")).isEqualTo(Match.NO);
        assertThat(match(stored, stored.equals("secret") ? "Secret" : stored)).isEqualTo(Match.NO);
        assertThat(match(stored, "")).isEqualTo(Match.NO);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{SASL}ann", "{SSHA}", "{SSHA}!", "{SHA}5en6", "{}", "{X-UNKNOWN}secret"})
    void whatCannotBeReadMatchesNothing(String stored) {
        assertThat(match(stored, "secret")).isEqualTo(Match.UNREADABLE);
        assertThat(match(stored, "")).isEqualTo(Match.NO);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "{SSHA"})
    void textWithoutASchemeIsAPassword(String stored) {
        assertThat(match(stored, "secret")).isEqualTo(Match.NO);
    }

    @ParameterizedTest
    @CsvSource({
        "{ARGON2}$argon2i$v=19$m=4096;t=3;p=1$c2FsdA$aGFzaA, $argon2i$v=19$m=4096;t=3;p=1$c2FsdA$aGFzaA",
        "{crypt}$2b$04$Pi6rPOKK, $2b$04$Pi6rPOKK",
        "{BCRYPT}$2a$04$Pi6rPOKK, $2a$04$Pi6rPOKK",
        "{PBKDF2}10000$././c2Fs$prZ3W, PBKDF2$sha1$10000$+/+/c2Fs$prZ3W",
        "{PBKDF2-SHA512}10000$c2Fs$f.b, PBKDF2$sha512$10000$c2Fs$f+b",
        "{CRYPT}$6$salt$hash, $6$salt$hash",
        "{CRYPT}$5$salt$hash, $5$salt$hash",
        "{CRYPT}$1$salt$hash,",
        "{ARGON2}x,",
        "{SSHA}P1+3zAc/WkUsFbGKhiTEzEp7D2XeFgsQ,",
        "secret,"
    })
    void slowHashesAreThoseOfTheHashPackage(String stored, @Nullable String hash) {
        assertThat(LdapPassword.slowHash(stored.getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(hash);
    }

    private static Match match(String stored, String password) {
        return LdapPassword.match(stored.getBytes(StandardCharsets.UTF_8), password.getBytes(StandardCharsets.UTF_8));
    }
}
