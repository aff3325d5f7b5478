// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import io.smqtt.access.PasswordText;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.object.ObjectFormat;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Users and API keys as stored objects, and the texts that both have in requests, too. */
public final class Formats {

    static final Set<Role> OF_USERS = Set.of(Role.ADMINISTRATOR, Role.OPERATOR, Role.VIEWER);
    static final Set<Role> OF_KEYS = Set.of(Role.values());

    private static final int MAX_DESCRIPTION = 1_024;
    private static final long MAX_SECOND = 253_402_300_799L; // of the year 9999

    private Formats() {}

    /** The form of a user. */
    static final class Users implements ObjectFormat<User> {

        @Override
        public User read(String id, JsonFields fields) {
            checkName(id);
            String hash = fields.text("password_hash");
            PasswordText.check(hash);
            return new User(hash, role(fields, OF_USERS), description(fields, "description"));
        }

        @Override
        public Map<String, Object> write(User user) {
            return Map.of(
                    "password_hash", user.passwordHash(),
                    "role", user.role().text(),
                    "description", user.description());
        }
    }

    /** The form of an API key. */
    static final class Keys implements ObjectFormat<ApiKey> {

        @Override
        public ApiKey read(String id, JsonFields fields) {
            checkName(id);
            String key = fields.text("key");
            String hash = fields.text("secret_sha256");
            if (!key.matches("[A-Za-z0-9_-]{8,64}") || !hash.matches("[0-9a-f]{64}")) {
                throw new InvalidFieldException("the fields key and secret_sha256 are not those of an API key");
            }
            return new ApiKey(
                    key,
                    hash,
                    role(fields, OF_KEYS),
                    fields.flag("enable"),
                    fields.has("expires_at") ? second(fields, "expires_at") : null,
                    second(fields, "created_at"),
                    description(fields, "desc"));
        }

        private static Instant second(JsonFields fields, String name) {
            return Instant.ofEpochSecond(fields.number(name, 0, MAX_SECOND));
        }

        @Override
        public Map<String, Object> write(ApiKey key) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("key", key.key());
            fields.put("secret_sha256", key.secretHash());
            fields.put("role", key.role().text());
            fields.put("enable", key.enabled());
            Instant expiresAt = key.expiresAt();
            if (expiresAt != null) {
                fields.put("expires_at", expiresAt.getEpochSecond());
            }
            fields.put("created_at", key.createdAt().getEpochSecond());
            fields.put("desc", key.description());
            return fields;
        }
    }

    /**
     * Checks the name of a user or an API key.
     *
     * @param name the name
     * @throws InvalidFieldException if it is not one
     */
    public static void checkName(String name) {
        if (!name.matches("[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")) {
            throw new InvalidFieldException(
                    "a name has 1 to 100 letters, digits and . _ @ -, and begins with a letter" + " or a digit");
        }
    }

    /**
     * Reads the role of an API key.
     *
     * @param fields the fields
     * @return the role; null if there is none
     * @throws InvalidFieldException if it is none of a key
     */
    public static @Nullable Role keyRole(JsonFields fields) {
        return fields.has("role") ? role(fields, OF_KEYS) : null;
    }

    /**
     * Reads the role of a user.
     *
     * @param fields the fields
     * @return the role; null if there is none
     * @throws InvalidFieldException if it is none of a user
     */
    public static @Nullable Role userRole(JsonFields fields) {
        return fields.has("role") ? role(fields, OF_USERS) : null;
    }

    private static Role role(JsonFields fields, Set<Role> allowed) {
        String text = fields.text("role");
        for (Role role : Role.values()) {
            if (role.text().equals(text) && allowed.contains(role)) {
                return role;
            }
        }
        throw new InvalidFieldException("the field role must be one of "
                + allowed.stream()
                        .sorted()
                        .map(role -> role.name().toLowerCase(Locale.ROOT))
                        .toList());
    }

    /**
     * Reads a description.
     *
     * @param fields the fields
     * @param name the name of the field
     * @return the text; empty if there is none
     * @throws InvalidFieldException if it is too long
     */
    public static String description(JsonFields fields, String name) {
        String text = fields.textOrNull(name);
        if (text != null && text.length() > MAX_DESCRIPTION) {
            throw new InvalidFieldException("the field " + name + " has more than " + MAX_DESCRIPTION + " characters");
        }
        return text == null ? "" : text;
    }
}
