// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file of users and password hashes in mosquitto's format, one {@code user:hash} per line. Not thread-safe. Blocks and computes hashes:
 * not for event loops.
 *
 * <p>Hashes are {@code $7$iterations$salt$hash} (PBKDF2 with HMAC-SHA-512), {@code $6$salt$hash} (a single SHA-512, read only) and, as an
 * extension that mosquitto does not read, {@code $scram-sha-256$iterations$salt$storedKey$serverKey}.
 */
public final class PasswordFile {

    /** The default iterations of new hashes: some 10 to 20 ms of one core for each login. */
    public static final int DEFAULT_ITERATIONS = 20_000;

    /** The only line of a file without users and comments: an empty file would look truncated. */
    private static final String NO_USERS = "# no users";

    /** The only length of salts that mosquitto 2.0 accepts. */
    static final int SALT_BYTES = 12;

    private static final SecureRandom RANDOM = KeyedHash.random();

    /** The form in which a password is stored. */
    public enum Kind {
        /** For clients that send the password in CONNECT; mosquitto reads it too. */
        PBKDF2_SHA_512,
        /** For SCRAM-SHA-256, and for clients that send the password in CONNECT. */
        SCRAM_SHA_256
    }

    private final Map<String, PasswordHash> users = new LinkedHashMap<>();
    private final List<String> comments = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private TextFile.Shape shape = TextFile.Shape.NEW;

    private PasswordFile() {}

    /**
     * Creates a file without users.
     *
     * @return a new one
     */
    public static PasswordFile empty() {
        return new PasswordFile();
    }

    /**
     * Reads a file.
     *
     * @param file the file
     * @return its users
     * @throws ConfigurationException if the file is missing, unreadable or malformed; with file and line of every malformed line
     */
    public static PasswordFile read(Path file) {
        PasswordFile result = new PasswordFile();
        TextFile.Content content = TextFile.read(file);
        result.shape = content.shape();
        TextFile.parse(file, content.lines(), line -> result.parse(line.strip()));
        if (result.users.isEmpty()) {
            result.warnings.add(file + ": contains no user, so no login with a password is possible");
        }
        if (PrivateFile.isReadableByAll(file)) {
            result.warnings.add(
                    file + ": is readable by every user of this machine; change its permissions with chmod 600");
        }
        return result;
    }

    /**
     * Reads {@code user:password} lines with plain passwords, and hashes these.
     *
     * @param file the file
     * @param kind the form in which passwords are stored
     * @param iterations the iterations of each hash
     * @return the users with their hashes
     * @throws ConfigurationException if the file is missing, unreadable or malformed; with file and line of every malformed line
     */
    public static PasswordFile readPlain(Path file, Kind kind, int iterations) {
        PasswordFile result = new PasswordFile();
        TextFile.parse(file, TextFile.read(file).lines(), line -> result.parsePlain(line, kind, iterations));
        return result;
    }

    /**
     * The users.
     *
     * @return their names in the order of the file; a view that cannot be changed
     */
    public Set<String> userNames() {
        return Collections.unmodifiableSet(users.keySet());
    }

    /**
     * Warnings about a valid file.
     *
     * @return messages that name the file; usually empty
     */
    public List<String> warnings() {
        return List.copyOf(warnings);
    }

    /**
     * Sets the password of a user, new or not, with the default kind and iterations.
     *
     * @param userName the user
     * @param password the password's UTF-8, at most 1,024 bytes
     * @throws IllegalArgumentException if the name or the password cannot be used; the message says why
     */
    public void set(String userName, byte[] password) {
        set(userName, password, Kind.PBKDF2_SHA_512, DEFAULT_ITERATIONS);
    }

    /**
     * Sets the password of a user, new or not.
     *
     * @param userName the user
     * @param password the password's UTF-8, at most 1,024 bytes
     * @param kind the form in which the password is stored
     * @param iterations the iterations, from 1 (from 4,096 for SCRAM) to 10,000,000
     * @throws IllegalArgumentException if an argument cannot be used; the message says why
     */
    public void set(String userName, byte[] password, Kind kind, int iterations) {
        requireUserName(userName);
        requirePassword(password);
        int minimum = kind == Kind.SCRAM_SHA_256 ? PasswordHash.ScramSha256.MINIMUM_ITERATIONS : 1;
        require(
                iterations >= minimum && iterations <= PasswordHash.MAXIMUM_ITERATIONS,
                "iterations must be from " + minimum + " to " + PasswordHash.MAXIMUM_ITERATIONS);
        byte[] salt = KeyedHash.randomBytes(RANDOM, SALT_BYTES);
        users.put(
                userName,
                kind == Kind.SCRAM_SHA_256
                        ? scram(userName, password, salt, iterations)
                        : PasswordHash.Pbkdf2Sha512.of(password, salt, iterations));
    }

    /**
     * Removes a user.
     *
     * @param userName the user
     * @return false if there was no such user
     */
    public boolean delete(String userName) {
        return users.remove(userName) != null;
    }

    /**
     * Writes the file: into a new file in the same directory that only its owner can read, which then replaces the old one atomically. Comments
     * move to the top.
     *
     * @param file the file, which may exist; a symbolic link is followed
     * @throws IOException if it cannot be written; the old file is then unchanged
     */
    public void write(Path file) throws IOException {
        StringBuilder text = new StringBuilder();
        comments.forEach(comment -> text.append(comment).append('\n'));
        users.forEach((userName, hash) ->
                text.append(userName).append(':').append(hash.encoded()).append('\n'));
        if (text.isEmpty()) {
            text.append(NO_USERS).append('\n');
        }
        PrivateFile.replace(file, text.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Size and end of the file when it was read. */
    TextFile.Shape shape() {
        return shape;
    }

    PasswordTable table() {
        return new PasswordTable(users);
    }

    private void parsePlain(String line, Kind kind, int iterations) {
        if (isComment(line.strip())) {
            return;
        }
        int colon = line.indexOf(':');
        require(colon > 0, "is not of the form user:password");
        String userName = line.substring(0, colon).strip();
        require(!users.containsKey(userName), "names a user that is already in the file");
        set(userName, line.substring(colon + 1).getBytes(StandardCharsets.UTF_8), kind, iterations);
    }

    private void parse(String line) {
        if (isComment(line)) {
            if (!line.isEmpty() && !line.equals(NO_USERS)) {
                comments.add(line);
            }
            return;
        }
        int colon = line.indexOf(':');
        require(colon > 0, "is not of the form user:hash");
        String userName = line.substring(0, colon).strip();
        requireUserName(userName);
        require(
                users.putIfAbsent(
                                userName,
                                PasswordHash.parse(line.substring(colon + 1).strip()))
                        == null,
                "names a user that is already in the file");
    }

    private static PasswordHash scram(String userName, byte[] password, byte[] salt, int iterations) {
        byte @Nullable [] prepared = Saslprep.prepare(password);
        if (prepared == null || prepared.length == 0) {
            throw new IllegalArgumentException("the password contains characters that SCRAM does not allow");
        }
        require(
                userName.equals(Saslprep.prepare(userName)),
                "the user name is not in the normalized form of SCRAM (SASLprep)");
        return PasswordHash.ScramSha256.of(prepared, salt, iterations);
    }

    private static boolean isComment(String line) {
        return line.isEmpty() || line.charAt(0) == '#';
    }

    private static void requireUserName(String userName) {
        boolean usable = !userName.isEmpty()
                && userName.equals(userName.strip())
                && userName.charAt(0) != '#'
                && userName.indexOf(':') < 0
                && userName.chars().noneMatch(Character::isISOControl);
        require(
                usable,
                "has an invalid user name: it is empty, begins with #, begins or ends with a blank, or contains : or a control character");
    }

    private static void requirePassword(byte[] password) {
        require(password.length > 0, "the password is empty");
        require(
                password.length <= PasswordFileAuthenticator.MAXIMUM_PASSWORD_BYTES,
                "the password is longer than " + PasswordFileAuthenticator.MAXIMUM_PASSWORD_BYTES + " bytes");
        for (byte b : password) {
            require(b != 0, "the password contains U+0000");
        }
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
