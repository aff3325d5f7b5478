// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Decides which entries of authentication and authorization.sources can be migrated as a whole, so that the result is valid. */
final class EmqxBackendCheck {

    private static final int SECRET_BYTES = 32;
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([^}]*)}?");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Pattern SERVER = Pattern.compile("(?i)https?://[^/?@$\\s]+([/?].*)?");
    private static final Set<String> CLIENT =
            Set.of("username", "clientid", "peerhost", "peerport", "listener", "proto_name");
    private static final Set<String> USER = Set.of("password", "cert_subject", "cert_common_name", "cert_pem");
    private static final Set<String> TOPIC = Set.of("action", "access", "topic", "qos", "retain");

    private final EmqxKeys keys;

    EmqxBackendCheck(EmqxKeys keys) {
        this.keys = keys;
    }

    /** The type of an entry of authentication: its backend, or its mechanism. */
    String userKind(String block) {
        String mechanism = keys.text(block + ".mechanism", "password_based").toLowerCase(Locale.ROOT);
        String backend = keys.text(block + ".backend", "built_in_database").toLowerCase(Locale.ROOT);
        return switch (mechanism) {
            case "password_based" -> backend;
            case "scram" -> backend.equals("built_in_database") ? "scram" : "scram_" + backend;
            default -> mechanism;
        };
    }

    /** The type of an entry of authorization.sources. */
    String sourceKind(String block) {
        String type = keys.text(block + ".type", "none").toLowerCase(Locale.ROOT);
        return type.equals("client_info") ? "client-info" : type;
    }

    /** Why an entry of authentication cannot be migrated; null if it can. */
    @Nullable
    String users(String block, String kind) {
        if (!keys.isOn(block)) {
            return "it is off in the file";
        }
        return switch (kind) {
            case "http" -> http(block, USER);
            case "jwt" -> jwt(block);
            case "built_in_database", "scram" -> null;
            default -> "there is no backend " + kind + "; clients that only it knows are refused";
        };
    }

    /** Why an entry of authorization.sources cannot be migrated; null if it can. */
    @Nullable
    String source(String block, String kind) {
        if (!keys.isOn(block)) {
            return "it is off in the file";
        }
        return switch (kind) {
            case "http" -> http(block, TOPIC);
            case "file" -> null;
            default -> "there is no backend " + kind + " for rules; write them to access.acl-file";
        };
    }

    private @Nullable String http(String block, Set<String> more) {
        String url = keys.text(block + ".url", "");
        String method = keys.text(block + ".method", "post").toLowerCase(Locale.ROOT);
        if (!SERVER.matcher(url).matches()) {
            return "its url must begin with http:// or https:// and a host without a placeholder and a user; a user goes into "
                    + "headers.authorization";
        }
        if (!method.equals("post") && !method.equals("get")) {
            return "its method is neither post nor get";
        }
        for (String list : List.of("headers.", "body.")) {
            for (OldSetting entry : keys.below(block + "." + list)) {
                String name = entry.key().substring(block.length() + 1 + list.length());
                if (!NAME.matcher(name).matches()) {
                    return list + " has a name that cannot be written, or a nested object";
                }
            }
        }
        return placeholders(List.of(block + ".url", block + ".headers.", block + ".body."), more);
    }

    private @Nullable String jwt(String block) {
        boolean fetched = keys.text(block + ".use_jwks", "false").equals("true");
        OldSetting secret = keys.get(block + ".secret");
        OldSetting publicKey = keys.get(block + ".public_key");
        OldSetting endpoint = keys.get(block + ".endpoint");
        int given = (secret == null ? 0 : 1) + (publicKey == null ? 0 : 1) + (endpoint == null ? 0 : 1);
        if (given != 1 || fetched != (endpoint != null)) {
            return "it must have exactly one of secret, public_key, and endpoint with use_jwks";
        }
        if (secret != null && bytes(block, secret) < SECRET_BYTES) {
            return "its secret has less than 32 bytes, which is not accepted; use a longer one";
        }
        for (OldSetting claim : keys.below(block + ".verify_claims")) {
            String rest = claim.key().substring(block.length() + ".verify_claims".length());
            String name = rest.startsWith(".") ? rest.substring(1) : rest.endsWith(".name") ? claim.value() : "x";
            if (!rest.isEmpty() && !NAME.matcher(name).matches()) {
                return "a claim has a name that cannot be written";
            }
        }
        return placeholders(List.of(block + ".verify_claims"), Set.of("cert_subject", "cert_common_name", "cert_pem"));
    }

    private int bytes(String block, OldSetting secret) {
        if (!keys.text(block + ".secret_base64_encoded", "false").equals("true")) {
            return secret.value().getBytes(StandardCharsets.UTF_8).length;
        }
        try {
            return Base64.getDecoder().decode(secret.value().strip()).length;
        } catch (IllegalArgumentException e) {
            return 0;
        }
    }

    private @Nullable String placeholders(List<String> prefixes, Set<String> more) {
        for (String prefix : prefixes) {
            for (OldSetting setting : keys.below(prefix)) {
                Matcher found = PLACEHOLDER.matcher(setting.value());
                while (found.find()) {
                    String name = found.group(1);
                    boolean attribute = name.startsWith("client_attrs.") && name.length() > "client_attrs.".length();
                    if (!found.group().endsWith("}") || !(CLIENT.contains(name) || more.contains(name) || attribute)) {
                        return "a placeholder in line "
                                + setting.where().substring(setting.where().lastIndexOf(':') + 1)
                                + " is not known here";
                    }
                }
            }
        }
        return null;
    }
}
