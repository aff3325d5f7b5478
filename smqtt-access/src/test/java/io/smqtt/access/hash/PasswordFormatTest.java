// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.hash;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.access.backend.BackendSettings;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Stored hashes of the password {@code secret}, made by OpenSSL's functions in Python, by libxcrypt and by the reference program of Argon2. */
class PasswordFormatTest {

    private static final String SHA256 = "bede90386d450cea8b77b822f8887065e4e5abf132c2f9dccfcc7fbd4cba5e35";
    private static final String ARGON2 = "$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0$U6N4zi1ZdRFb4wC3QrUB";
    private static final String PBKDF2_SHA256 =
            "PBKDF2$sha256$1000$AAECAwQFBgcICQoLDA0ODw==$Tvsru20utY6o3q7VRBeuL9h/1QqKhWhwk2PaYNRWBgY=";

    @ParameterizedTest
    @CsvSource({
        "plain, disable, secret",
        "plain, prefix, saltsecret",
        "plain, suffix, secretsalt",
        "md5, prefix, d42a0f742ffc1be4e1cc0845c2429c97",
        "md5, suffix, 99cd2e5a95d555ee7be3b038a4a84625",
        "md5, disable, 5ebe2294ecd0e0f08eab7690d2a6ee69",
        "sha, prefix, da00ec2e6ff9ed4d342b24a16e262c82f3c8b10b",
        "sha, suffix, 8152bc582f58c854f580cb101d3182813dec4afe",
        "sha, disable, E5E9FA1BA31ECD1AE84F75CAAA474F3A663F05F4",
        "sha256, prefix, bede90386d450cea8b77b822f8887065e4e5abf132c2f9dccfcc7fbd4cba5e35",
        "sha256, suffix, f84fa2149dbb62ed4e0cf1f550d2949b33a6513d3a7707e08502511c79ccb0ee",
        "sha256, disable, 2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b",
        "sha512, prefix, 9901847ff8c76bd5fb473b7bd2e4f4ddd110332a52a888fd69deb276613885ddf382e5cf1210ed0decdb8010ae3994331a9e0639c3ca7e9e8b110dd50978ce76",
        "sha512, suffix, 138f75cab47d01d0a813badb38f612dc46604ae669544eb9003f71928d3cb3a7e5a0d7ac63f6697bdccc56f2e2c784b616241227df5122436f847a2634ef6e2f",
        "sha512, disable, bd2b1aaf7ef4f09be9f52ce2d8d599674d81aa9d6a4421696dc4d93dd0619d682ce56b4d64a9ef097761ced99e0f67265b5f76085e5b0ee7ca4696b2ad6fe2b2",
    })
    void digestsWithTheirSalt(String name, String position, String hash) {
        PasswordFormat format = format("name", name, "salt-position", position);

        assertThat(matches(format, "secret", hash, "salt")).isTrue();
        assertThat(matches(format, "Secret", hash, "salt")).isFalse();
        assertThat(matches(format, "secret", hash, "pepper")).isEqualTo(position.equals("disable"));
    }

    @Test
    void withoutAColumnTheSaltIsEmpty() {
        String hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

        assertThat(matches(format(), "secret", hash, null)).isTrue();
        assertThat(matches(format(), "secret", hash, "salt")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "sha256, 20, a8df899f3c4f204d967e0ad63c092987c10055eb",
        "sha512, 0, f76f72381b75f0deb1c339334a8c8974366cadbc6bf46460f978363de8d210dbccfa7a5908cfe50e6172bf6bc4d7b72dd48f1d543ce48736da7f7fcf6db4672c",
        "sha, 45, fa7bab9eff3a06a5271ccfb9b6d8728d0c7a334d748b03071eefdf53ea75c37472496c4cd9a21bcff87cbb89d9",
    })
    void pbkdf2WithParametersOfTheConfiguration(String function, int length, String hash) {
        PasswordFormat format = format(
                "name", "pbkdf2", "mac-fun", function, "iterations", "1000", "dk-length", String.valueOf(length));

        assertThat(matches(format, "secret", hash, "salt")).isTrue();
        assertThat(matches(format, "secret", hash, "salz")).isFalse();
        assertThat(matches(format, "", hash, "salt")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "secret, PBKDF2$sha512$1000$AAECAwQFBgcICQoLDA0ODw==$8ltlLe5cI6KNrWOmMFkTi2iE7fEXJKJJR9lhjd/xSn68+xOqzv2h20C4IDv/enqlx8f6AaRHE+6XnvHKXKhAjA==",
        "secret, PBKDF2$sha256$1000$AAECAwQFBgcICQoLDA0ODw==$Tvsru20utY6o3q7VRBeuL9h/1QqKhWhwk2PaYNRWBgY=",
        "correct horse, $2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
        "abc, $2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i",
        "secret, '$argon2id$v=19$m=4096,t=3,p=2$c2FsdHNhbHRzYWx0$U6N4zi1ZdRFb4wC3QrUB+0ZfncoeTXGKW9dp1Z7lhLg'",
        "secret, '$argon2i$v=19$m=64,t=2,p=1$c2FsdHNhbHRzYWx0$vrJ6TLLeDMlmutZj7YH1scHDRfZRpgJd'",
        "secret, '$argon2d$v=19$m=64,t=2,p=1$c2FsdHNhbHRzYWx0$py5xp68ackX2R/AYcZcZyoCO7oRnnhmE'",
        "secret, '$argon2id$v=16$m=64,t=1,p=1$c2FsdHNhbHRzYWx0$yvW9LC6br+BmljUmNoiIXJ6woZc408UQ3iOrw49e3uc'",
    })
    void hashesWithTheirParameters(String password, String hash) {
        assertThat(matches(format("name", "auto"), password, hash, null)).isTrue();
        assertThat(matches(format("name", "auto"), "other", hash, null)).isFalse();
    }

    /** Made by OpenSSL. */
    @ParameterizedTest
    @CsvSource({
        "secret, $6$saltstring$AIsRs/Ee56G/tC8MEHhvReZTfx8u3rXXMl6eYrjCG9ibix19DxoMBLogdTET5Ukw9Sf7eZTITsuk0Ry5qulYz.",
        "secret, $5$saltstring$C3o4O1TC6aRHF4FI.QSZMXtHbaj2gSXr4sUc/3NcUi.",
        "x, $5$ab$5ydlOaPxAq0VpamGFK.BZgHF7HlR0erJsH.F7VB19f0",
        "é€ secret, $6$rounds=1400$anotherlongsalts$svDcLGcmAAHUOOf1OlAIk934rcyFgg78H06uXYzV5q91Etb28AYMH8eVvaN/MIFY1nnXwPdmcxRmfVeygcH6G1",
        "'a longer password than a block, which a hash of 64 bytes cannot hold at once: 0123456789', "
                + "$6$rounds=10000$abcdefghijklmnop$zdkvaVnZ3JTXAHMdZiPEvtWOneXAfU/ioDIJH.STeoNfiofImIN5MyG/.Q9BLwn7MxSPNDobe31IOL3BtlflG/",
    })
    void hashesOfCrypt(String password, String hash) {
        PasswordFormat format = PasswordFormat.selfContained();

        assertThat(matches(format, password, hash, null)).isTrue();
        assertThat(matches(format, password + "x", hash, null)).isFalse();
        assertThat(matches(format, "x".repeat(257), hash, null)).isFalse();
        assertThat(matches(format, password, hash.replaceFirst(".$", "x"), null))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "$5$salt$short",
                "$5$saltstring$AIsRs/Ee56G/tC8MEHhvReZTfx8u3rXXMl6eYrjCG9ibix19DxoMBLogdTET5Ukw9Sf7eZTITsuk0Ry5qulYz.",
                "$6$rounds=500001$ab$AIsRs/Ee56G/tC8MEHhvReZTfx8u3rXXMl6eYrjCG9ibix19DxoMBLogdTET5Ukw9Sf7eZTITsuk0Ry5qulYz.",
                "$6$$AIsRs/Ee56G/tC8MEHhvReZTfx8u3rXXMl6eYrjCG9ibix19DxoMBLogdTET5Ukw9Sf7eZTITsuk0Ry5qulYz.",
                "$1$ab$5ydlOaPxAq0VpamGFK.BZgHF7HlR0erJsH.F7VB19f0"
            })
    void otherHashesOfCryptAreRejected(String hash) {
        assertThatThrownBy(() -> PasswordFormat.selfContained().parse(hash, null))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void bcryptReadsTheFirst72BytesOfAPassword() {
        String hash = "$2y$05$abcdefghijklmnopqrstuuTRSHZmuydJWPjOCBk/ch5P57D9cdiM2";
        PasswordFormat format = format("name", "bcrypt");

        assertThat(matches(format, "ä".repeat(36), hash, null)).isTrue();
        assertThat(matches(format, "ä".repeat(40), hash, null)).isTrue();
        assertThat(matches(format, "ä".repeat(35), hash, null)).isFalse();
    }

    @Test
    void aSaltInUtf8() {
        PasswordFormat format = format("name", "auto", "salt-encoding", "utf-8");

        assertThat(matches(
                        format,
                        "secret",
                        "PBKDF2$sha256$1000$plainsalt$PqiWDPlDmX2soIgw/6e087Dt/1ZHUdRNwMgopwCjRTg=",
                        null))
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "sha256, '', is no SHA-256 of 64",
        "sha256, zz, is no SHA-256 of 64",
        "md5, bede90386d450cea8b77b822f8887065e4e5abf132c2f9dccfcc7fbd4cba5e35, is no MD5 of 32",
        "bcrypt, $2b$05$short, is no bcrypt hash",
        "bcrypt, $2b$31$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2, cost is not from 4 to 14",
        "bcrypt, $2b$03$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2, cost is not from 4 to 14",
        "auto, '', is of an unknown kind",
        "auto, secret, is of an unknown kind",
        "auto, PBKDF2$sha512$1000$c2FsdA==, is no PBKDF2 with function",
        "auto, PBKDF2$sha512$1000$c2FsdA==$aGFzaA==$x, is no PBKDF2 with function",
        "auto, PBKDF2$sha3$1000$c2FsdA==$aGFzaA==, unknown function",
        "auto, PBKDF2$sha512$0$c2FsdA==$aGFzaA==, iterations are not from 1",
        "auto, PBKDF2$sha512$-1$c2FsdA==$aGFzaA==, iterations are not from 1",
        "auto, PBKDF2$sha512$x$c2FsdA==$aGFzaA==, iterations are not from 1",
        "auto, PBKDF2$sha512$2000001$c2FsdA==$aGFzaA==, iterations are not from 1",
        "auto, PBKDF2$sha512$99999999999999$c2FsdA==$aGFzaA==, iterations are not from 1",
        "auto, PBKDF2$sha512$1000$!$aGFzaA==, no Base64",
        "auto, $argon2id$, is no Argon2 with memory",
        "auto, '$argon2id$v=19$m=65537,t=1,p=1$c2FsdHNhbHRzYWx0$U6N4zi1ZdRE', is an Argon2 of more than 65536 KiB",
        "auto, '$argon2id$v=19$m=65536,t=5,p=1$c2FsdHNhbHRzYWx0$U6N4zi1ZdRE', 262144 KiB over all passes",
        "auto, '$argon2id$v=19$m=64,t=0,p=1$c2FsdHNhbHRzYWx0$U6N4zi1ZdRE', is an Argon2 of more than",
        "auto, '$argon2id$v=19$m=64,t=1,p=17$c2FsdHNhbHRzYWx0$U6N4zi1ZdRE', 16 lanes",
        "auto, '$argon2id$v=19$m=8,t=1,p=2$c2FsdHNhbHRzYWx0$U6N4zi1ZdRE', is an Argon2 of more than",
        "auto, '$argon2id$v=19$m=64,t=1,p=1$c2FsdA$U6N4zi1ZdRE', a salt of less than 8 bytes",
        "auto, '$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0$!', no Base64",
        "auto, PBKDF2$sha512$1000$c2FsdA==$!, no Base64",
        "auto, PBKDF2$sha512$1000$c2FsdA==$, is no PBKDF2 of 1 to 256",
    })
    void hashesThatAreDamagedOrTooExpensiveAreRejectedBeforeTheyCost(String name, String hash, String problem) {
        assertThatThrownBy(() -> format("name", name).parse(hash, ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void longHashesAreRejected() {
        String many = "a".repeat(StoredHash.MAXIMUM_CHARS + 1);

        assertThatThrownBy(() -> format("name", "plain").parse(many, "")).hasMessageContaining("is longer than 4096");
        assertThatThrownBy(() -> format().parse(SHA256, many)).hasMessageContaining("is longer than 4096");
        assertThatThrownBy(() -> format("name", "auto").parse("PBKDF2$sha1$2000000$AA==$" + "A".repeat(40), ""))
                .hasMessageContaining("iterations are not from 1"); // two blocks of 20 bytes, each with all iterations
    }

    @Test
    void allParametersOfArgon2TogetherHaveALimit() {
        String most = "$argon2id$v=19$m=65536,t=1,p=1$c2FsdHNhbHRzYWx0$U6N4zi1ZdRE";
        format("name", "auto").parse("$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0$U6N4zi1ZdRE", null);

        assertThatThrownBy(() -> format("name", "auto").parse(most, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("whose parameters are not among those in use");
    }

    @Test
    void randomTextsAreReadOrRejectedAndNeverMatch() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        String[] seeds = {PBKDF2_SHA256, "$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2", SHA256, ARGON2
        };
        for (int i = 0; i < 300; i++) {
            StringBuilder text = new StringBuilder(seeds[random.nextInt(seeds.length)]);
            for (int j = 0; j <= random.nextInt(4); j++) {
                text.setCharAt(random.nextInt(text.length()), (char) random.nextInt(0x100));
            }
            StoredHash hash;
            try {
                hash = format("name", "auto").parse(text.toString(), "");
            } catch (IllegalArgumentException e) {
                continue;
            }
            Thread.currentThread().interrupt(); // bounds the cost
            try {
                assertThat(hash.matches("wrong".getBytes(UTF_8)))
                        .as("seed %d: %s", seed, text)
                        .isFalse();
            } catch (CancellationException e) {
                assertThat(text.toString()).startsWith("PBKDF2");
            } finally {
                Thread.interrupted();
            }
        }
    }

    @Test
    void aHashThatNobodyWaitsForStops() {
        StoredHash hash = format("name", "auto").parse("PBKDF2$sha512$2000000$c2FsdA==$aGFzaA==", null);
        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(() -> hash.matches("secret".getBytes(UTF_8))).isInstanceOf(CancellationException.class);
        } finally {
            Thread.interrupted();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "name, sha3, 'hash.name must be plain, md5,'",
        "mac-fun, sha256, is for pbkdf2 only",
        "iterations, 1000, is for pbkdf2 only",
        "dk-length, 20, is for pbkdf2 only",
        "salt-encoding, utf-8, is for auto only",
    })
    void keysThatDoNotFitStopTheStart(String key, String value, String problem) {
        assertThatThrownBy(() -> format(key, value))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("smqtt.yaml:1: ")
                .hasMessageContaining(problem);
    }

    @Test
    void pbkdf2NeedsItsParameters() {
        assertThatThrownBy(() -> format("name", "pbkdf2", "iterations", "1000"))
                .hasMessageContaining("hash.mac-fun must be set for pbkdf2");
        assertThatThrownBy(() -> format("name", "pbkdf2", "mac-fun", "sha"))
                .hasMessageContaining("hash.iterations must be set for pbkdf2");
        assertThatThrownBy(() -> format("name", "bcrypt", "salt-position", "suffix"))
                .hasMessageContaining("salt-position is for plain, md5, sha, sha256 and sha512 only");
    }

    private static boolean matches(PasswordFormat format, String password, String hash, String salt) {
        return format.parse(hash, salt).matches(password.getBytes(UTF_8));
    }

    static PasswordFormat format(String... keysAndValues) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            values.put(
                    "hash." + keysAndValues[i],
                    new ConfigValue(keysAndValues[i + 1], "smqtt.yaml:" + (i / 2 + 1), Path.of("/etc")));
        }
        return PasswordFormat.of(BackendSettings.of("people", PasswordFormat.settings(), values), "sha256");
    }
}
