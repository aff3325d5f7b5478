// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.config.SecretMask;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The authentication chain and the authorization sources of EMQX as {@code access.chain} and its backends. What cannot be migrated is left out:
 * clients that only it knows are refused, and nothing is allowed because it did not deny.
 */
final class EmqxAccess {

    private static final String PASSWORD_FILE = "password-file";

    /** The keys that say where a directory has rules; without one of them it is asked about users only. */
    private static final List<String> RULE_ATTRIBUTES =
            List.of("publish_attribute", "subscribe_attribute", "all_attribute", "acl_rule_attribute");

    /**
     * An entry of one of the two lists.
     *
     * @param kind http, jwt, file and so on
     * @param name the backend here
     * @param reason why it is left out, or null
     */
    private record Entry(String kind, String name, @Nullable String reason) {}

    private final Draft draft;
    private final EmqxKeys keys;
    private final EmqxPaths paths;
    private final EmqxBackendCheck check;
    private final Map<String, Entry> users = new LinkedHashMap<>();
    private final Map<String, Entry> sources = new LinkedHashMap<>();
    private final Map<String, Integer> names = new HashMap<>();

    EmqxAccess(Draft draft, EmqxKeys keys, EmqxPaths paths) {
        this.draft = draft;
        this.keys = keys;
        this.paths = paths;
        this.check = new EmqxBackendCheck(keys);
        for (String block : keys.blocks("authentication")) {
            String kind = check.userKind(block);
            boolean own = kind.equals("built_in_database") || kind.equals("scram");
            users.put(block, new Entry(kind, own ? PASSWORD_FILE : named(kind), check.users(block, kind)));
        }
        for (String block : keys.blocks("authorization.sources")) {
            String kind = check.sourceKind(block);
            sources.put(block, new Entry(kind, named(kind + "-acl"), check.source(block, kind)));
        }
    }

    private String named(String kind) {
        String plain = Draft.plain(kind);
        int number = names.merge(plain, 1, Integer::sum);
        return number == 1 ? plain : plain + "-" + number;
    }

    /** The key with the type of its entry in place of the number: {@code authentication.http.url}. */
    String canonical(OldSetting setting) {
        String block = EmqxKeys.block(setting.key());
        Entry user = users.get(block);
        Entry source = sources.get(block);
        if (user != null) {
            return "authentication." + user.kind + "." + EmqxKeys.rest(setting.key());
        }
        return source == null ? setting.key() : "authorization." + source.kind + "." + EmqxKeys.rest(setting.key());
    }

    /** Why the entry of a key is left out; null if it is not. */
    @Nullable
    String reason(OldSetting setting) {
        Entry entry = entry(setting);
        return entry == null ? null : entry.reason;
    }

    /** Whether leaving out the entry of a key may allow something. */
    boolean guards(OldSetting setting) {
        String block = EmqxKeys.block(setting.key());
        return sources.containsKey(block) && keys.isOn(block) && sources.size() > 1;
    }

    private @Nullable Entry entry(OldSetting setting) {
        String block = EmqxKeys.block(setting.key());
        Entry user = users.get(block);
        return user == null ? sources.get(block) : user;
    }

    /** Writes a key of the backend of an entry. */
    void set(OldSetting setting, String key, EmqxValue value) {
        String ours = key(setting, key);
        String text = value.of(draft, setting);
        if (text != null) {
            draft.set(ours, key.endsWith("method") ? text.toLowerCase(Locale.ROOT) : text, setting);
        }
    }

    private String key(OldSetting setting, String key) {
        Entry entry = entry(setting);
        return "access.backends." + (entry == null ? "x" : entry.name) + "." + key;
    }

    /** A header; one that may hold a secret is not written. */
    void header(OldSetting setting, String prefix) {
        String name = name(setting, "headers.").toLowerCase(Locale.ROOT);
        String key = key(setting, prefix + "headers." + name);
        boolean post =
                !keys.text(EmqxKeys.block(setting.key()) + ".method", "post").equalsIgnoreCase("get");
        if (!post && name.equals("content-type")) {
            draft.note(setting, Outcome.NONE, "a GET has no body");
        } else if (SecretMask.mayBeSecret(name)) {
            draft.secret(key, setting.value(), setting);
            draft.note(
                    setting,
                    Outcome.DIFFERENT,
                    key + ": is not written, because it may hold a secret; set it by the environment");
        } else {
            draft.set(key, setting.value(), setting);
        }
    }

    /** A field of a request. */
    void field(OldSetting setting, String prefix) {
        draft.set(key(setting, prefix + "body." + name(setting, "body.")), setting.value(), setting);
    }

    private static String name(OldSetting setting, String before) {
        String rest = EmqxKeys.rest(setting.key());
        return rest.substring(Math.min(rest.length(), before.length()));
    }

    /** The authorities for a server. */
    void authority(OldSetting setting) {
        String block = EmqxKeys.block(setting.key());
        if (!keys.text(block + ".ssl.enable", "false").equals("true")) {
            draft.note(setting, Outcome.NONE, "TLS is off here");
        } else if (EmqxPaths.isPem(setting)) {
            draft.privateFile(key(setting, "ca"), name(setting) + ".ca.pem", setting.value(), setting);
        } else {
            draft.set(key(setting, "ca"), paths.of(setting), setting);
        }
    }

    /** Whether a server is connected to by TLS; without {@code ssl.verify} its certificate is not checked there. */
    void encrypted(OldSetting setting) {
        if (keys.get(EmqxKeys.block(setting.key()) + ".ssl.verify") == null) {
            verify(setting);
        }
    }

    /** Whether the certificate of a server is checked. */
    void verify(OldSetting setting) {
        String block = EmqxKeys.block(setting.key());
        boolean secure = keys.text(block + ".ssl.enable", "false").equals("true");
        if (secure && !EmqxPaths.checksServer(keys, block)) {
            draft.note(
                    setting,
                    Outcome.DIFFERENT,
                    key(setting, "ca") + ": the certificate of the server is checked; name its authority");
        }
    }

    private String name(OldSetting setting) {
        Entry entry = entry(setting);
        return entry == null ? "x" : entry.name;
    }

    /** The servers of a directory. */
    void directory(OldSetting setting) {
        String block = EmqxKeys.block(setting.key());
        boolean secure = keys.text(block + ".ssl.enable", "false").equals("true");
        draft.set(key(setting, "url"), EmqxBackendCheck.directories(setting.value(), secure), setting);
        draft.note(
                setting,
                Outcome.DIFFERENT,
                key(setting, "type") + ": an extension; put smqtt-access-ldap into lib/ext");
    }

    /** The servers of Redis. */
    void redis(OldSetting setting) {
        String block = EmqxKeys.block(setting.key());
        boolean secure = keys.text(block + ".ssl.enable", "false").equals("true");
        draft.set(key(setting, "url"), check.servers(block, secure), setting);
        draft.note(setting, Outcome.DIFFERENT, key(setting, "type") + ": an extension, lib/ext/redis");
    }

    /** The number of a database, of which a cluster has one only. */
    void databaseNumber(OldSetting setting) {
        if (keys.text(EmqxKeys.block(setting.key()) + ".redis_type", "single").equalsIgnoreCase("cluster")) {
            draft.note(setting, Outcome.NONE, "a cluster has one database only");
        } else {
            set(setting, "database", EmqxValue.count(0, 65_535));
        }
    }

    /** The user of a server, which needs a password. */
    void user(OldSetting setting, String ours, String theirPassword) {
        if (keys.has(EmqxKeys.block(setting.key()) + "." + theirPassword)) {
            set(setting, ours, EmqxValue.text());
        } else {
            draft.note(setting, Outcome.NONE, "it has no password");
        }
    }

    /** The URL of a database, with its name and TLS. */
    void database(OldSetting setting) {
        String block = EmqxKeys.block(setting.key());
        Entry entry = entry(setting);
        boolean postgres = entry != null && entry.kind.equals("postgresql");
        String address = BridgeEntry.address(setting.value().strip(), postgres ? 5432 : 3306);
        draft.set(
                key(setting, "url"),
                (postgres ? "jdbc:postgresql://" : "jdbc:mariadb://") + address + "/"
                        + keys.text(block + ".database", "") + paths.databaseTls(keys, block, postgres),
                setting);
        draft.note(
                setting,
                Outcome.DIFFERENT,
                key(setting, "type") + ": an extension, lib/ext/sql"
                        + (postgres ? "" : "; put the driver of MariaDB beside it"));
    }

    /** How passwords are stored; each parameter belongs to some algorithms only. */
    void hash(OldSetting setting, String ours) {
        String block = EmqxKeys.block(setting.key());
        String name =
                keys.text(block + ".password_hash_algorithm.name", "sha256").toLowerCase(Locale.ROOT);
        boolean derived = name.equals("pbkdf2");
        boolean fits = ours.equals("hash.name")
                || (ours.equals("hash.salt-position") ? !derived && !name.equals("bcrypt") : derived);
        if (fits) {
            draft.set(key(setting, ours), setting.value().strip().toLowerCase(Locale.ROOT), setting);
        } else {
            draft.note(setting, Outcome.NONE, "belongs to another kind of hash");
        }
    }

    /** A password towards a server, in a file of its own. */
    void password(OldSetting setting, String ours) {
        String ending = ours.startsWith("sentinel") ? ".sentinel.password" : ".password";
        draft.privateFile(key(setting, ours), name(setting) + ending, setting.value(), setting);
    }

    /** The secret of tokens, in a file of its own. */
    void secret(OldSetting setting) {
        draft.privateFile(key(setting, "secret-file"), name(setting) + ".secret", setting.value(), setting);
    }

    /** The public key of tokens: a path, or the key itself. */
    void publicKey(OldSetting setting) {
        String key = key(setting, "public-key");
        if (EmqxPaths.isPem(setting)) {
            draft.privateFile(key, name(setting) + ".pem", setting.value(), setting);
        } else {
            draft.set(key, paths.of(setting), setting);
        }
    }

    /** A claim: {@code verify_claims.sub = x}, or an entry of a list with name and value. */
    void claim(OldSetting setting) {
        String rest = EmqxKeys.rest(setting.key());
        if (rest.startsWith("verify_claims.")) {
            draft.set(key(setting, "verify-claims." + name(setting, "verify_claims.")), setting.value(), setting);
        } else if (rest.endsWith(".value")) {
            String entry = setting.key().substring(0, setting.key().length() - "value".length());
            draft.set(key(setting, "verify-claims." + keys.text(entry + "name", "")), setting.value(), setting);
        }
    }

    /** Completes the chain, the types of the backends, and the ACL file. */
    void complete(EmqxAcl acl) {
        List<String> chain = new ArrayList<>();
        users.forEach((block, entry) -> {
            if (entry.reason == null && entry.name.equals(PASSWORD_FILE)) {
                draft.passwordFile(first(block));
            } else if (entry.reason == null) {
                draft.set("access.backends." + entry.name + ".type", type(entry), first(block));
                boolean usersOnly = entry.kind.equals("redis")
                        || entry.kind.equals("ldap")
                                && RULE_ATTRIBUTES.stream().noneMatch(key -> keys.has(block + "." + key));
                if (usersOnly) {
                    draft.set("access.backends." + entry.name + ".checks", "user", first(block));
                }
            }
            if (entry.reason == null && !chain.contains(entry.name)) {
                chain.add(entry.name);
            }
        });
        sources.forEach((block, entry) -> {
            if (entry.reason == null && !entry.kind.equals("file")) {
                draft.set("access.backends." + entry.name + ".type", type(entry), first(block));
                draft.set("access.backends." + entry.name + ".checks", "acl", first(block));
                ttl(entry.name);
                chain.add(entry.name);
            }
        });
        if (chain.stream().anyMatch(name -> !name.equals(PASSWORD_FILE))) {
            draft.byDefault(
                    "access.chain", String.join(",", chain), "the order of authentication and authorization.sources");
        }
        anonymous();
        rules(acl);
    }

    private static String type(Entry entry) {
        return entry.kind.equals("mysql") || entry.kind.equals("postgresql") ? "sql" : entry.kind;
    }

    private OldSetting first(String block) {
        return keys.below(block + ".").get(0);
    }

    private void ttl(String name) {
        OldSetting enable = keys.get("authorization.cache.enable");
        OldSetting ttl = keys.get("authorization.cache.ttl");
        String key = "access.backends." + name + ".cache-ttl";
        if (enable != null && !draft.bool(enable)) {
            draft.set(key, "0s", enable);
        } else if (ttl != null) {
            String text = EmqxValue.duration(1_000, 0, EmqxRules.day()).of(draft, ttl);
            draft.set(key, text == null ? "1m" : text, ttl);
        }
    }

    private void anonymous() {
        String on = users.keySet().stream().filter(keys::isOn).findFirst().orElse("");
        if (!on.isEmpty()) {
            draft.set("access.allow-anonymous", "false", first(on));
            return;
        }
        draft.byDefault("access.allow-anonymous", "true", "EMQX's default: no authentication");
        draft.note(
                "authentication",
                Outcome.DIFFERENT,
                "access.allow-anonymous: there is no authentication, so all clients may connect, as before; their user names are not "
                        + "verified, so rules for users do not apply");
    }

    /** Writes the ACL file, if anything but everything is allowed. */
    private void rules(EmqxAcl acl) {
        boolean allows = !keys.text("authorization.no_match", "allow").equals("deny");
        boolean leftOut = sources.entrySet().stream()
                .anyMatch(source -> source.getValue().reason != null && keys.isOn(source.getKey()));
        List<String> files = sources.entrySet().stream()
                .filter(source -> source.getValue().kind.equals("file") && source.getValue().reason == null)
                .map(Map.Entry::getKey)
                .toList();
        boolean implied = sources.isEmpty() && !keys.has("authorization.sources");
        OldSetting path = implied
                ? new OldSetting("authorization.sources", "${EMQX_ETC_DIR}/acl.conf", "EMQX's default")
                : files.isEmpty() ? null : keys.get(files.get(0) + ".path");
        OldSetting text = files.isEmpty() ? null : keys.get(files.get(0) + ".rules");
        boolean closed = text != null ? acl.text(text) : path != null && acl.file(path, paths, !implied);
        boolean asks = sources.values().stream().anyMatch(entry -> entry.reason == null && !entry.kind.equals("file"));
        if (leftOut) {
            draft.note(
                    "authorization.sources",
                    Outcome.DIFFERENT,
                    "access.acl-file: a source is left out, so what no rule allows is denied");
        }
        acl.finish(allows && !leftOut && !closed, asks || leftOut || !allows || closed);
        if (asks && !files.isEmpty() && isBefore(files.get(0))) {
            draft.note(
                    first(files.get(0)),
                    acl.denies() ? Outcome.UNGUARDED : Outcome.DIFFERENT,
                    "access.chain: the rules of the file are asked after the other sources, not before");
        }
        askedBefore();
    }

    /** Reports sources behind an HTTP server: their rules are fetched at connect, and always asked first. */
    private void askedBefore() {
        boolean server = false;
        for (Map.Entry<String, Entry> source : sources.entrySet()) {
            Entry entry = source.getValue();
            boolean used = entry.reason == null && !entry.kind.equals("file");
            if (used && server && !entry.kind.equals("http")) {
                draft.note(
                        first(source.getKey()),
                        Outcome.UNGUARDED,
                        "access.chain: the rules of this source are asked before those of the HTTP server, not after");
            }
            server |= used && entry.kind.equals("http");
        }
    }

    private boolean isBefore(String file) {
        boolean seen = false;
        for (Map.Entry<String, Entry> source : sources.entrySet()) {
            seen |= source.getKey().equals(file);
            if (seen
                    && source.getValue().reason == null
                    && !source.getValue().kind.equals("file")) {
                return true;
            }
        }
        return false;
    }
}
