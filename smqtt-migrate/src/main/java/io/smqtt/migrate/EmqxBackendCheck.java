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
    private static final Pattern QUOTED_PLACEHOLDER = Pattern.compile("'(\\$\\{[^}']*})'");
    private static final String KEY = "[^\\s\"'\\\\]*\\$\\{[^\\s\"'\\\\]*";
    private static final String FIELD = "(?:password_hash|password|salt|is_superuser)";
    private static final Pattern READS_USER = Pattern.compile("(?i:HGET)\\s+" + KEY
            + "\\s+(?:password_hash|password)|(?i:HMGET)\\s+" + KEY
            + "(?=.*\\s(?:password_hash|password)(?:\\s|$))(?:\\s+" + FIELD + ")+");
    private static final Pattern READS_RULES =
            Pattern.compile("(?i:HGETALL)\\s+" + KEY + "|(?i:HMGET)\\s+" + KEY + "(?:\\s+[^\\s\"'\\\\]+)+");
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
            case "ldap" -> ldap(block);
            case "mysql", "postgresql" -> sql(block, kind);
            case "redis" -> redis(block, true);
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
            case "ldap" -> ldap(block);
            case "mysql", "postgresql" -> sql(block, kind);
            case "redis" -> redis(block, false);
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

    private @Nullable String ldap(String block) {
        String method = keys.text(block + ".method.type", "bind");
        String password = keys.text(block + ".method.bind_password", "${password}");
        if (directories(keys.text(block + ".server", ""), false).isEmpty()
                || keys.get(block + ".base_dn") == null
                || !(method.equals("bind") || method.equals("hash"))
                || !password.equals("${password}")) {
            return "it needs server as host:port, base_dn, and the method bind with the password of the client, or hash";
        }
        if (!(keys.text(block + ".base_dn", "") + keys.text(block + ".filter", "")).contains("${")) {
            return "neither base_dn nor filter has a placeholder, so that all clients would be the same entry";
        }
        return placeholders(
                List.of(block + ".base_dn", block + ".filter"), Set.of("cert_subject", "cert_common_name", "cert_pem"));
    }

    private @Nullable String sql(String block, String kind) {
        OldSetting query = keys.get(block + ".query");
        String database = keys.text(block + ".database", "");
        if (BridgeEntry.address(keys.text(block + ".server", ""), 1) == null
                || !NAME.matcher(database).matches()
                || query == null) {
            return "it needs server as host:port, database and query";
        }
        String statement = statement(query);
        if (statement.indexOf('?') >= 0
                || statement.contains("--")
                || statement.contains("/*")
                || (kind.equals("mysql") && hasOutsideQuotes(statement, "#"))
                || quotesPlaceholder(statement)) {
            return "its query has a question mark, a comment, or a placeholder in quotes";
        }
        return placeholders(List.of(block + ".query"), Set.of("cert_subject", "cert_common_name", "cert_pem"));
    }

    private @Nullable String redis(String block, boolean users) {
        String mode = keys.text(block + ".redis_type", "single").toLowerCase(Locale.ROOT);
        boolean known = List.of("single", "sentinel", "cluster").contains(mode);
        if (!known || servers(block, false).isEmpty() || mode.equals("sentinel") != keys.has(block + ".sentinel")) {
            return "it needs server or servers as host:port, and the name of the sentinel with redis_type sentinel";
        }
        String command = keys.text(block + ".cmd", "").strip();
        if (!(users ? READS_USER : READS_RULES).matcher(command).matches()) {
            return users
                    ? "its cmd is not HMGET or HGET with a key that has a placeholder, password_hash, salt and is_superuser"
                    : "its cmd is not HGETALL or HMGET with a key that has a placeholder";
        }
        return placeholders(List.of(block + ".cmd"), Set.of("cert_subject", "cert_common_name", "cert_pem"));
    }

    /** The URLs of Redis; empty if one of them is no host and port. */
    String servers(String block, boolean secure) {
        String servers = keys.text(block + ".servers", keys.text(block + ".server", ""));
        boolean several = !keys.text(block + ".redis_type", "single").equalsIgnoreCase("single");
        List<String> addresses = List.of(servers.split(",", -1));
        return several || addresses.size() == 1
                ? BridgeEntry.urls(secure ? "rediss://" : "redis://", addresses, 6379)
                : "";
    }

    /** Whether a text is outside of quotes and of quoted names, as MySQL reads them. */
    private static boolean hasOutsideQuotes(String statement, String text) {
        char quote = 0;
        for (int i = 0; i < statement.length(); i++) {
            char c = statement.charAt(i);
            if (quote == 0 && statement.startsWith(text, i)) {
                return true;
            } else if (quote == 0 && (c == '\'' || c == '"' || c == '`')) {
                quote = c;
            } else if (quote != 0 && quote != '`' && c == '\\') {
                i++; // what it stands before ends no quotes
            } else if (c == quote) {
                quote = 0;
            }
        }
        return false;
    }

    private static boolean quotesPlaceholder(String statement) {
        char quote = 0;
        for (int i = 0; i < statement.length(); i++) {
            char c = statement.charAt(i);
            if (quote == 0 && (c == '\'' || c == '"')) {
                quote = c;
            } else if (c == quote) {
                quote = 0;
            } else if (quote != 0 && statement.startsWith("${", i)) {
                return true;
            }
        }
        return false;
    }

    /** A statement whose placeholders are not in quotes, since they become bind parameters. */
    static String statement(OldSetting query) {
        return QUOTED_PLACEHOLDER
                .matcher(query.value().replaceAll("\\s+", " ").strip())
                .replaceAll("$1");
    }

    static String statement(Draft draft, OldSetting query) {
        return statement(query);
    }

    /** The URLs of directories; empty if one of them is no host and port. */
    static String directories(String servers, boolean secure) {
        return BridgeEntry.urls(secure ? "ldaps://" : "ldap://", List.of(servers.split(",", -1)), secure ? 636 : 389);
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
