// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.config.AutoSubscriptionConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.TopicRewriteConfig;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * emqx.conf of version 5. Each key is written, or reported with its line; keys of a block that has no counterpart are reported together. Settings
 * of zones and of single listeners, which this broker has for all of them, are never applied to more clients than before without a report.
 */
final class EmqxMapper {

    static final RuleTable<EmqxMapper> RULES = EmqxRules.table();

    private static final int MAX_ENTRIES = 100;

    private final Draft draft;
    private final EmqxKeys keys;
    private final Set<String> named;
    private final EmqxListeners listeners;
    private final EmqxAccess access;
    private final EmqxAcl acl;
    private final EmqxBridges bridges;
    private final EmqxActions actions;
    private final Map<String, EmqxBlockNote> blocks = new LinkedHashMap<>();

    private EmqxMapper(OldFile file, HoconFile.Content content) {
        draft = new Draft(file.directory());
        keys = new EmqxKeys(content.settings());
        named = content.named();
        EmqxPaths paths = new EmqxPaths(draft, file);
        listeners = new EmqxListeners(draft, keys, paths);
        access = new EmqxAccess(draft, keys, paths);
        acl = new EmqxAcl(draft);
        bridges = new EmqxBridges(draft, keys, paths);
        actions = new EmqxActions(draft, keys, paths, bridges);
    }

    static Draft map(OldFile file) {
        HoconFile.Content content = HoconFile.read(file);
        EmqxMapper mapper = new EmqxMapper(file, content);
        content.absent()
                .forEach(setting -> mapper.draft.note(
                        setting,
                        Outcome.NONE,
                        "the substitution is no key of the file, and the environment is not read"));
        content.unused()
                .forEach(reference -> mapper.draft.note(
                        reference.where(),
                        Outcome.NONE,
                        "a substitution that a later line replaces is not merged with it"));
        content.missing().forEach(where -> mapper.draft.note(where, Outcome.NONE, "includes a file that is not there"));
        return mapper.run(file);
    }

    private Draft run(OldFile file) {
        requireVersion5(file);
        keys.all().forEach(this::one);
        blocks.values().forEach(block -> block.report(draft));
        listeners.complete();
        access.complete(acl);
        bridges.complete();
        actions.complete();
        rewrites();
        autoSubscriptions();
        flapping();
        draft.byDefault("storage.kind", "memory", "EMQX's default: durable_sessions.enable false");
        draft.byDefault("session.max-expiry", "4294967295s", "EMQX's default: no maximum");
        draft.byDefault("session.default-expiry", "2h", "EMQX's default");
        draft.byDefault("session.queue-qos0", "true", "EMQX's default: mqueue_store_qos0");
        draft.sortNotes(file);
        return draft.finished();
    }

    private void requireVersion5(OldFile file) {
        for (OldSetting setting : keys.all()) {
            String key = setting.key();
            if (key.startsWith("listener.")
                    || key.startsWith("zone.")
                    || key.startsWith("acl_")
                    || key.equals("allow_anonymous")) {
                throw new ConfigurationException(List.of(
                        setting.where() + ": is a key of EMQX 4; " + file.shownAs() + " must be that of version 5"));
            }
        }
    }

    private void one(OldSetting setting) {
        String reason = access.reason(setting);
        if (reason != null) {
            block(
                    EmqxKeys.block(setting.key()),
                    access.guards(setting) ? Outcome.UNGUARDED : Outcome.NONE,
                    reason,
                    setting);
            return;
        }
        String left = bridges.reason(setting);
        if (left != null) {
            block(EmqxKeys.block(setting.key()), Outcome.NONE, left, setting);
            return;
        }
        String key = canonical(setting);
        Rule<EmqxMapper> rule = RULES.find(key);
        if (rule == null) {
            unknown(setting);
            return;
        }
        rule.action().accept(this, setting);
        String advice = (rule.target().isEmpty() ? "" : rule.target() + ": ") + rule.advice();
        if (rule.outcome() == Outcome.SAME) {
            return;
        }
        if (rule.key().endsWith(".*")) {
            block(ancestor(setting.key(), rule.key()), rule.outcome(), advice, setting);
        } else {
            draft.note(setting, rule.outcome(), advice);
        }
    }

    /** A key of no known block; one that a substitution stands for has been used there. */
    private void unknown(OldSetting setting) {
        if (named.contains(setting.key())) {
            return;
        }
        int dot = setting.key().indexOf('.');
        block(
                dot < 0 ? setting.key() : setting.key().substring(0, dot),
                Outcome.NONE,
                "it is not a known key of EMQX 5; check whether it restricts access",
                setting);
    }

    /** Collects the keys of a block that are reported together. */
    private void block(String name, Outcome outcome, String advice, OldSetting setting) {
        blocks.computeIfAbsent(name + " " + outcome + advice, key -> new EmqxBlockNote(name, outcome, advice))
                .add(setting);
    }

    /** The part of a key that the rule has in front of its asterisk. */
    private static String ancestor(String key, String rule) {
        int levels = rule.split("\\.").length - 1;
        if (EmqxKeys.block(key).startsWith("authentication")) {
            levels--; // the rule has the type of the entry as a level
        }
        int end = -1;
        for (int level = 0; level < Math.max(1, levels); level++) {
            int dot = key.indexOf('.', end + 1);
            if (dot < 0) {
                return key;
            }
            end = dot;
        }
        return key.substring(0, end);
    }

    private String canonical(OldSetting setting) {
        String block = EmqxKeys.block(setting.key());
        String rest = EmqxKeys.rest(setting.key());
        if (block.startsWith("listeners.")) {
            return "listeners.<type>.<name>." + rest;
        }
        if (block.contains(".mqtt.")
                || block.startsWith("rule_engine.")
                || block.startsWith("connectors.")
                || block.startsWith("actions.")) {
            return block.substring(0, block.lastIndexOf('.')) + ".<name>." + rest;
        }
        if (block.startsWith("rewrite")) {
            return "rewrite." + rest;
        }
        if (block.startsWith("auto_subscribe")) {
            return "auto_subscribe.topics." + rest;
        }
        return access.canonical(setting);
    }

    Draft draft() {
        return draft;
    }

    EmqxListeners listeners() {
        return listeners;
    }

    EmqxAccess access() {
        return access;
    }

    void set(String key, EmqxValue value, OldSetting setting) {
        String text = value.of(draft, setting);
        if (text != null) {
            draft.set(key, text, setting);
        }
    }

    /** Writes the lowest of several limits; 0 is none. */
    void lowest(String key, EmqxValue value, OldSetting setting) {
        String text = value.of(draft, setting);
        String before = draft.get(key);
        boolean lower = text != null
                && (before.isEmpty()
                        || before.equals("0")
                        || (!text.equals("0") && Long.parseLong(text) < Long.parseLong(before)));
        if (lower && text != null) {
            draft.set(key, text, setting);
        }
    }

    void bind(OldSetting setting) {
        EmqxValues.Bind bind = EmqxValues.bind(setting.value());
        if (bind == null) {
            draft.problem(setting, "must be a port, or host:port");
            return;
        }
        String prefix = listeners.prefix(setting);
        draft.set(prefix + "port", String.valueOf(bind.port()), setting);
        if (!bind.host().isEmpty()) {
            draft.set(prefix + "host", bind.host(), setting);
        }
    }

    void proxy(OldSetting setting) {
        String prefix = listeners.prefix(setting);
        boolean on = draft.bool(setting);
        draft.set(prefix + "proxy-protocol", String.valueOf(on), setting);
        if (on) {
            draft.set(prefix + "trusted-proxies", "127.0.0.0/8", setting);
            draft.note(
                    setting,
                    Outcome.DIFFERENT,
                    prefix + "trusted-proxies: has only the loopback address; set it to the networks of the proxies");
        }
    }

    void mountPoint(OldSetting setting) {
        if (!setting.value().isBlank()) {
            draft.note(
                    setting,
                    Outcome.UNGUARDED,
                    "all listeners share the same topics; separate the clients by access.acl-file");
        }
    }

    void accessRules(OldSetting setting) {
        if (!setting.value().strip().equals("allow all")) {
            draft.note(setting, Outcome.UNGUARDED, "use a firewall, or address lines in access.acl-file");
        }
    }

    void enableAuthn(OldSetting setting) {
        if (!setting.value().strip().equals("true")) {
            draft.note(
                    setting,
                    Outcome.DIFFERENT,
                    "access.allow-anonymous: clients of this listener are authenticated like all others");
        }
    }

    void revocation(OldSetting setting) {
        if (draft.bool(setting)) {
            draft.note(
                    setting,
                    Outcome.UNGUARDED,
                    "revocation is not checked; replace the authority, or use short-lived certificates");
        }
    }

    void retain(OldSetting setting) {
        if (!draft.bool(setting) || !draft.has("mqtt.retain-available")) {
            set("mqtt.retain-available", EmqxValue.flag(), setting);
        }
    }

    /** Writes a limit for the retained messages of all topics; 0 is none. */
    void retainedPolicy(String key, EmqxValue value, OldSetting setting) {
        String text = value.of(draft, setting);
        if (text != null && !text.matches("0[a-z]*")) {
            draft.set("retained-policies.all.topic", "#", setting);
            draft.set("retained-policies.all." + key, text, setting);
        }
    }

    void stored(OldSetting setting) {
        boolean disc = setting.key().endsWith("storage_type")
                ? !setting.value().strip().equals("ram")
                : draft.bool(setting);
        if (disc || !draft.has("storage.kind")) {
            draft.set("storage.kind", disc ? "rocksdb" : "memory", setting);
        }
    }

    void keepAlive(OldSetting setting) {
        long seconds = EmqxValues.count(setting.value());
        String text = seconds == EmqxValues.INFINITE || seconds == 0
                ? "unlimited"
                : EmqxValue.duration(1_000, 1_000, 65_535_000).of(draft, setting);
        if (text != null) {
            draft.set("mqtt.max-keep-alive", text, setting);
        }
    }

    void inFlight(OldSetting setting) {
        set("limits.max-in-flight", EmqxValue.countOrAll(1, 65_535), setting);
        if (draft.has("limits.max-in-flight")) {
            draft.set("limits.receive-maximum", draft.get("limits.max-in-flight"), setting);
        }
    }

    void idleTimeout(OldSetting setting) {
        String text = EmqxValue.duration(1_000, 1, 3_600_000).of(draft, setting);
        List<String> prefixes =
                listeners.prefixes().isEmpty() ? List.of("listeners.tcp.", "listeners.ws.") : listeners.prefixes();
        if (text != null) {
            prefixes.forEach(prefix -> draft.set(prefix + "connect-timeout", text, setting));
        }
    }

    void certificateUser(OldSetting setting) {
        String value = setting.value().strip().toLowerCase(Locale.ROOT);
        if (value.equals("cn") || value.equals("dn")) {
            List<String> secure = new ArrayList<>();
            for (String type : List.of("ssl", "wss")) {
                for (String block : keys.blocks("listeners." + type)) {
                    boolean asks = keys.text(block + ".ssl_options.verify", "").equals("verify_peer");
                    boolean files = keys.get(block + ".ssl_options.certfile") != null
                            && keys.get(block + ".ssl_options.cacertfile") != null;
                    if (asks && files) {
                        secure.add(listeners.prefix(new OldSetting(block + ".x", "", "")));
                    }
                }
            }
            secure.forEach(prefix -> draft.set(prefix + "tls.user-name", value, setting));
            if (secure.isEmpty() || keys.hasBelow("authentication")) {
                draft.note(
                        setting,
                        Outcome.DIFFERENT,
                        "listeners.<name>.tls.user-name: add certificate to access.chain to accept clients by their certificate alone");
            }
        } else if (!value.equals("disabled")) {
            draft.note(setting, Outcome.UNGUARDED, "listeners.<name>.tls.user-name has only cn and dn");
        }
    }

    void certificateClient(OldSetting setting) {
        if (!setting.value().strip().equalsIgnoreCase("disabled")) {
            draft.note(
                    setting,
                    Outcome.UNGUARDED,
                    "clients keep the identifier that they send; access.client-id reserves identifiers for users");
        }
    }

    void denyAction(OldSetting setting) {
        if (!setting.value().strip().equals("ignore")) {
            draft.note(setting, Outcome.NONE, "the client is told of the refusal and stays connected");
        }
    }

    void sysInterval(OldSetting setting) {
        String text = EmqxValues.millis(setting.value(), 1_000) == EmqxValues.INFINITE
                ? "never"
                : EmqxValue.duration(1_000, 100, EmqxRules.day()).of(draft, setting);
        if (text != null) {
            draft.set("management.sys-interval", text, setting);
        }
    }

    void dashboard(OldSetting setting) {
        EmqxValues.Bind bind = EmqxValues.bind(setting.value());
        if (bind != null && bind.port() > 0) {
            draft.set("management.port", String.valueOf(bind.port()), setting);
        }
    }

    void logLevel(OldSetting setting) {
        set(
                "logging.level",
                EmqxValue.word(Map.of(
                        "debug", "debug",
                        "info", "info",
                        "notice", "info",
                        "warning", "warn",
                        "error", "error",
                        "critical", "error",
                        "alert", "error",
                        "emergency", "error",
                        "none", "off")),
                setting);
    }

    private void rewrites() {
        int number = 0;
        for (String block : keys.blocks("rewrite")) {
            OldSetting source = keys.get(block + ".source_topic");
            OldSetting expression = keys.get(block + ".re");
            OldSetting target = keys.get(block + ".dest_topic");
            if (source == null || expression == null || target == null || ++number > MAX_ENTRIES) {
                left(block, "a rule needs source_topic, re and dest_topic, and there are at most 100");
                continue;
            }
            try {
                TopicRewriteConfig.of(source.value(), expression.value(), target.value());
            } catch (ConfigurationException e) {
                left(
                        block,
                        "source_topic, re or dest_topic cannot be used here: the syntax is that of RE2, without back references");
                continue;
            }
            String prefix = String.format(Locale.ROOT, "topic-rewrites.rewrite-%03d.", number);
            entry(block, prefix, Map.of("source_topic", "source-topic", "re", "re", "dest_topic", "dest-topic"));
            OldSetting action = keys.get(block + ".action");
            if (action != null) {
                set(
                        prefix + "action",
                        EmqxValue.word(Map.of("publish", "publish", "subscribe", "subscribe", "all", "all")),
                        action);
            }
        }
    }

    private void autoSubscriptions() {
        int number = 0;
        for (String block : keys.blocks("auto_subscribe.topics")) {
            OldSetting topic = keys.get(block + ".topic");
            try {
                AutoSubscriptionConfig.of(topic == null ? "" : topic.value());
            } catch (ConfigurationException e) {
                topic = null;
            }
            if (topic == null || ++number > MAX_ENTRIES) {
                left(
                        block,
                        "the topic cannot be used here: placeholders are clientid, username, host and port, and there are at most 100");
                continue;
            }
            String prefix = String.format(Locale.ROOT, "auto-subscriptions.auto-%03d.", number);
            entry(block, prefix, Map.of("topic", "topic", "qos", "qos", "rh", "retain-handling"));
            for (String flag : List.of("nl", "rap")) {
                OldSetting setting = keys.get(block + "." + flag);
                if (setting != null) {
                    String key = flag.equals("nl") ? "no-local" : "retain-as-published";
                    draft.set(prefix + key, String.valueOf(draft.bool(setting)), setting);
                }
            }
        }
    }

    private void entry(String block, String prefix, Map<String, String> names) {
        names.forEach((theirs, ours) -> {
            OldSetting setting = keys.get(block + "." + theirs);
            if (setting != null) {
                draft.set(prefix + ours, setting.value(), setting);
            }
        });
    }

    private void left(String block, String why) {
        EmqxBlockNote note = new EmqxBlockNote(block, Outcome.NONE, why);
        keys.below(block + ".").forEach(note::add);
        note.report(draft);
    }

    private void flapping() {
        OldSetting enable = keys.get("flapping_detect.enable");
        if (enable == null || !draft.bool(enable)) {
            if (keys.hasBelow("flapping_detect.")) {
                left("flapping_detect", "it is off in the file, as it is here");
            }
            return;
        }
        draft.set("access.bans.max-disconnects", "15", enable);
        optional("flapping_detect.max_count", "access.bans.max-disconnects", EmqxValue.count(1, 1_000_000));
        optional(
                "flapping_detect.window_time",
                "access.bans.disconnect-window",
                EmqxValue.duration(1_000, 1_000, EmqxRules.day()));
        optional(
                "flapping_detect.ban_time",
                "access.bans.disconnect-ban",
                EmqxValue.duration(1_000, 1_000, 365 * EmqxRules.day()));
    }

    private void optional(String theirs, String ours, EmqxValue value) {
        OldSetting setting = keys.get(theirs);
        if (setting != null) {
            set(ours, value, setting);
        }
    }
}
