// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.hash;

import io.smqtt.access.backend.BackendSetting;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.hash.DigestHash.SaltPosition;
import io.smqtt.config.ConfigurationException;
import io.smqtt.thread.AnyThread;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The form of the password hashes in a backend, as its configuration has it: EMQX's algorithms, whose parameters are in the configuration,
 * or hashes that contain their parameters, as mosquitto-go-auth has them. Immutable.
 */
@AnyThread
public final class PasswordFormat {

    private static final String NAME = "hash.name";
    private static final String SALT_POSITION = "hash.salt-position";
    private static final String MAC_FUN = "hash.mac-fun";
    private static final String ITERATIONS = "hash.iterations";
    private static final String DK_LENGTH = "hash.dk-length";
    private static final String SALT_ENCODING = "hash.salt-encoding";

    private static final String AUTO = "auto";
    private static final String PLAIN = "plain";
    private static final String BCRYPT = "bcrypt";
    private static final String PBKDF2 = "pbkdf2";
    private static final Map<String, String> DIGESTS =
            Map.of("md5", "MD5", "sha", "SHA-1", "sha256", "SHA-256", "sha512", "SHA-512");
    private static final List<String> NAMES = List.of(PLAIN, "md5", "sha", "sha256", "sha512", BCRYPT, PBKDF2, AUTO);
    private static final List<String> FUNCTIONS = List.of("md5", "sha", "sha224", "sha256", "sha384", "sha512");

    private final String name;
    private final SaltPosition saltPosition;
    private final String function;
    private final int iterations;
    private final int length;
    private final Pbkdf2Hash.SaltReader saltReader;

    private PasswordFormat(BackendSettings settings, String name) {
        this.name = name;
        saltPosition = SaltPosition.valueOf(settings.text(SALT_POSITION).toUpperCase(Locale.ROOT));
        String given = settings.textOrNull(MAC_FUN);
        function = given == null ? "" : given;
        iterations = (int) settings.number(ITERATIONS);
        length = (int) settings.number(DK_LENGTH);
        saltReader = settings.text(SALT_ENCODING).equals("base64")
                ? Pbkdf2Hash::base64
                : text -> text.getBytes(StandardCharsets.UTF_8);
    }

    private PasswordFormat() {
        name = AUTO;
        saltPosition = SaltPosition.DISABLE;
        function = "";
        iterations = 0;
        length = 0;
        saltReader = Pbkdf2Hash::base64;
    }

    /**
     * The format {@code auto}, for backends that find the kind of a hash themselves: {@code PBKDF2$...} with a salt in Base64, bcrypt, Argon2, or SHA of
     * crypt(3).
     *
     * @return the format
     */
    public static PasswordFormat selfContained() {
        return new PasswordFormat();
    }

    /**
     * The keys of the format, for {@link io.smqtt.access.backend.AccessBackendFactory#settings()}.
     *
     * @return declarations of {@code hash.*}
     */
    public static List<BackendSetting> settings() {
        return List.of(
                BackendSetting.choice(
                        NAME,
                        null,
                        NAMES,
                        "how passwords are stored: `plain`, `md5`, `sha`, `sha256`, `sha512`, `bcrypt`, `pbkdf2`, or `auto`, where each"
                                + " hash says it itself: `PBKDF2$...`, `$2b$...`, `$argon2id$...`, `$6$...`"),
                BackendSetting.choice(
                        SALT_POSITION,
                        "prefix",
                        List.of("prefix", "suffix", "disable"),
                        "where the salt is in what `plain` and digests are computed of: `prefix`, `suffix` or `disable`"),
                BackendSetting.choice(MAC_FUN, null, FUNCTIONS, "the function of `pbkdf2`"),
                BackendSetting.number(
                        ITERATIONS,
                        0,
                        0,
                        Pbkdf2Hash.MAXIMUM_ITERATIONS,
                        "the iterations of `pbkdf2`, which must be set for it"),
                BackendSetting.number(
                        DK_LENGTH,
                        0,
                        0,
                        Pbkdf2Hash.MAXIMUM_LENGTH,
                        "the length of the hash of `pbkdf2` in bytes; 0: as long as the function makes it"),
                BackendSetting.choice(
                        SALT_ENCODING,
                        "base64",
                        List.of("base64", "utf-8"),
                        "how the salt in `PBKDF2$...` is written: `base64` or `utf-8`"));
    }

    /**
     * The format that a backend is configured with.
     *
     * @param settings the settings of a backend that declares {@link #settings()}
     * @param defaultName the algorithm if none is named, such as {@code sha256}
     * @return the format
     * @throws ConfigurationException if the settings contradict each other
     */
    public static PasswordFormat of(BackendSettings settings, String defaultName) {
        String given = settings.textOrNull(NAME);
        String name = given == null ? defaultName : given;
        requires(settings, name, MAC_FUN, PBKDF2, true);
        requires(settings, name, ITERATIONS, PBKDF2, true);
        requires(settings, name, DK_LENGTH, PBKDF2, false);
        requires(settings, name, SALT_ENCODING, AUTO, false);
        if (settings.has(SALT_POSITION) && !name.equals(PLAIN) && !DIGESTS.containsKey(name)) {
            throw settings.problem(SALT_POSITION, "is for plain, md5, sha, sha256 and sha512 only");
        }
        if (name.equals(PBKDF2) && settings.number(ITERATIONS) == 0) {
            throw settings.problem(ITERATIONS, "must be at least 1");
        }
        return new PasswordFormat(settings, name);
    }

    private static void requires(BackendSettings settings, String name, String key, String only, boolean isRequired) {
        if (settings.has(key) && !name.equals(only)) {
            throw settings.problem(key, "is for " + only + " only");
        }
        if (isRequired && name.equals(only) && !settings.has(key)) {
            throw settings.problem(key, "must be set for " + only);
        }
    }

    /** Whether a check can take milliseconds or more, on purpose. */
    boolean isSlow() {
        return !name.equals(PLAIN) && !DIGESTS.containsKey(name);
    }

    /**
     * Reads a stored hash.
     *
     * @param hash the stored text
     * @param salt the text of the salt, or null if it is not stored apart
     * @return the hash
     * @throws IllegalArgumentException if it is not of this format, or too expensive. The message continues a sentence that begins with
     *     "the stored hash" and does not contain it
     */
    StoredHash parse(String hash, @Nullable String salt) {
        String salted = salt == null ? "" : salt;
        if (hash.length() > StoredHash.MAXIMUM_CHARS || salted.length() > StoredHash.MAXIMUM_CHARS) {
            throw new IllegalArgumentException(
                    "is longer than " + StoredHash.MAXIMUM_CHARS + " characters, or its salt is");
        }
        return switch (name) {
            case PLAIN -> DigestHash.parse(null, hash, salted, saltPosition);
            case BCRYPT -> BcryptHash.parse(hash);
            case PBKDF2 -> pbkdf2(hash, salted);
            case AUTO -> selfContained(hash);
            default -> DigestHash.parse(DIGESTS.get(name), hash, salted, saltPosition);
        };
    }

    private StoredHash pbkdf2(String hash, String salt) {
        byte[] bytes = DigestHash.hexadecimal(hash);
        if (length > 0 && bytes.length != length) {
            throw new IllegalArgumentException("is no PBKDF2 of " + 2 * length + " hexadecimal digits");
        }
        return Pbkdf2Hash.of(function, iterations, salt.getBytes(StandardCharsets.UTF_8), bytes);
    }

    private StoredHash selfContained(String hash) {
        if (hash.startsWith("PBKDF2$")) {
            return Pbkdf2Hash.parse(hash, saltReader);
        }
        if (hash.startsWith("$2")) {
            return BcryptHash.parse(hash);
        }
        if (hash.startsWith("$argon2")) {
            return Argon2Hash.parse(hash);
        }
        if (hash.startsWith("$5$") || hash.startsWith("$6$")) {
            return ShaCryptHash.parse(hash);
        }
        throw new IllegalArgumentException(
                "is of an unknown kind; known are PBKDF2$..., $2b$..., $argon2id$..., $5$... and $6$...");
    }
}
