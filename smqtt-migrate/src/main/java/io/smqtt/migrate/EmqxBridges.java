// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Bridges of EMQX to other brokers as {@code bridges.<name>}: {@code bridges.mqtt}, or connectors with actions, sources and rules that change
 * nothing. Blocks that cannot be written as a whole are left out.
 */
final class EmqxBridges {

    private static final int PORT = 1883;
    private static final String TOPIC = "${topic}";
    private static final Pattern SQL = Pattern.compile(
            "\\s*SELECT\\s+\\*\\s+FROM\\s+((?:\"[^\"]{1,512}\"|'[^']{1,512}')(?:\\s*,\\s*(?:\"[^\"]{1,512}\"|'[^']{1,512}')){0,99})\\s*;?\\s*",
            Pattern.CASE_INSENSITIVE);

    /**
     * What is forwarded.
     *
     * @param from the key that it comes from
     * @param filter the filter
     * @param name the name there or here; with <code>${topic}</code>
     */
    private record Forward(OldSetting from, String filter, String direction, String qos, String name) {}

    private final Draft draft;
    private final EmqxKeys keys;
    private final EmqxPaths paths;
    private final Map<String, List<Forward>> forwards = new LinkedHashMap<>();
    private final Map<String, String> reasons = new HashMap<>();
    private final Set<String> used = new HashSet<>();

    EmqxBridges(Draft draft, EmqxKeys keys, EmqxPaths paths) {
        this.draft = draft;
        this.keys = keys;
        this.paths = paths;
        keys.blocks("bridges.mqtt").forEach(this::bridge);
        keys.blocks("connectors.mqtt").forEach(block -> forwards.put(block, new ArrayList<>()));
        keys.blocks("rule_engine.rules").forEach(this::rule);
        for (String kind : List.of("actions.mqtt", "sources.mqtt")) {
            keys.blocks(kind).stream()
                    .filter(block -> !used.contains(block))
                    .forEach(block -> reasons.put(
                            block,
                            "only rules SELECT * FROM topics, whose messages are forwarded unchanged, become "
                                    + "topics of a bridge"));
        }
        forwards.forEach((block, list) -> {
            String reason = reason(block, list);
            if (reason != null) {
                reasons.put(block, reason);
            }
        });
    }

    /** Whether a rule is written as topics of a bridge. */
    boolean uses(String block) {
        return used.contains(block);
    }

    /** Why the block of a key is left out; null if it is not, or is none of these. */
    @Nullable
    String reason(OldSetting setting) {
        return reasons.get(EmqxKeys.block(setting.key()));
    }

    private @Nullable String reason(String block, List<Forward> list) {
        if (!keys.isOn(block)) {
            return "it is off in the file";
        }
        if (BridgeEntry.address(keys.text(block + ".server", ""), PORT) == null) {
            return "its server must be host:port";
        }
        BridgeEntry trial = new BridgeEntry(new Draft(Path.of("")), "x");
        boolean any = false;
        for (Forward forward : list) {
            any |= add(trial, forward);
        }
        return any ? null : "it forwards nothing, or only by rules that change messages";
    }

    private void bridge(String block) {
        List<Forward> list = new ArrayList<>();
        OldSetting out = keys.get(block + ".egress.local.topic");
        String payload = keys.text(block + ".egress.remote.payload", "${payload}");
        if (out != null && payload.equals("${payload}")) {
            String to = keys.text(block + ".egress.remote.topic", TOPIC);
            list.addAll(forward(out, out.value(), to, "out", keys.text(block + ".egress.remote.qos", "1")));
        }
        OldSetting in = keys.get(block + ".ingress.remote.topic");
        OldSetting local = keys.get(block + ".ingress.local.topic");
        boolean same = keys.text(block + ".ingress.local.payload", "${payload}").equals("${payload}");
        if (in != null && local != null && same) {
            list.addAll(forward(in, in.value(), local.value(), "in", keys.text(block + ".ingress.remote.qos", "1")));
        }
        forwards.put(block, list);
    }

    /** A topic with a new name. */
    private static List<Forward> forward(OldSetting from, String filter, String name, String direction, String qos) {
        return List.of(new Forward(from, filter, direction, qos.matches("[012]") ? qos : "2", name));
    }

    /** A rule that forwards messages unchanged, to actions, or from a source. */
    private void rule(String block) {
        OldSetting sql = keys.get(block + ".sql");
        Matcher select = SQL.matcher(sql == null ? "" : sql.value());
        if (sql == null || !select.matches() || !keys.isOn(block)) {
            return;
        }
        List<String> topics = Stream.of(select.group(1).split(","))
                .map(String::strip)
                .map(topic -> topic.substring(1, topic.length() - 1))
                .toList();
        if (topics.size() == 1 && topics.get(0).startsWith("$bridges/mqtt:")) {
            republish(block, topics.get(0).substring("$bridges/mqtt:".length()));
        } else {
            actions(block, sql, topics);
        }
    }

    private void actions(String block, OldSetting sql, List<String> topics) {
        List<Runnable> steps = new ArrayList<>();
        for (String action : keys.text(block + ".actions", "").split(",", -1)) {
            String target = "actions.mqtt." + action.strip().replaceFirst("^mqtt:", "");
            String connector = "connectors.mqtt." + keys.text(target + ".connector", "");
            String name = keys.text(target + ".parameters.topic", TOPIC);
            boolean same =
                    keys.text(target + ".parameters.payload", "${payload}").equals("${payload}");
            List<Forward> list = forwards.get(connector);
            if (!action.strip().startsWith("mqtt:") || list == null || !same || !keys.isOn(target)) {
                return;
            }
            for (String topic : topics) {
                List<Forward> made = forward(sql, topic, name, "out", keys.text(target + ".parameters.qos", "1"));
                if (topic.startsWith("$")) {
                    return;
                }
                steps.add(() -> list.addAll(made));
            }
            steps.add(() -> used.add(target));
        }
        steps.forEach(Runnable::run);
        used.add(block);
    }

    private void republish(String block, String source) {
        String from = "sources.mqtt." + source;
        String action = block + ".actions[0]";
        List<Forward> list = forwards.get("connectors.mqtt." + keys.text(from + ".connector", ""));
        OldSetting topic = keys.get(from + ".parameters.topic");
        boolean same = keys.text(action + ".function", "").equals("republish")
                && keys.text(action + ".args.payload", "${payload}").equals("${payload}")
                && !keys.hasBelow(block + ".actions[1]");
        if (list == null || topic == null || !same || !keys.isOn(from)) {
            return;
        }
        List<Forward> made = forward(
                topic,
                topic.value(),
                keys.text(action + ".args.topic", TOPIC),
                "in",
                keys.text(from + ".parameters.qos", "1"));
        list.addAll(made);
        used.add(block);
        used.add(from);
    }

    private static boolean add(BridgeEntry entry, Forward forward) {
        String name = forward.name;
        boolean prefixed = name.endsWith(TOPIC) && name.indexOf("${") == name.length() - TOPIC.length();
        if (!prefixed) {
            return entry.named(forward.from, forward.filter, forward.direction, forward.qos, name);
        }
        String prefix = name.substring(0, name.length() - TOPIC.length());
        boolean out = forward.direction.equals("out");
        return entry.topic(
                forward.from, forward.filter, forward.direction, forward.qos, out ? "" : prefix, out ? prefix : "");
    }

    /** Writes all bridges. */
    void complete() {
        Set<String> names = new HashSet<>();
        forwards.forEach((block, list) -> {
            if (reasons.containsKey(block)) {
                return;
            }
            String plain = Draft.plain(EmqxKeys.name(block));
            String name = plain;
            for (int i = 2; !names.add(name); i++) {
                name = plain + "-" + i;
            }
            write(block, list, name);
        });
    }

    private void write(String block, List<Forward> list, String name) {
        BridgeEntry entry = new BridgeEntry(draft, name);
        OldSetting server = keys.get(block + ".server");
        String address = BridgeEntry.address(keys.text(block + ".server", ""), PORT);
        if (server == null || address == null) {
            return;
        }
        boolean secure = keys.text(block + ".ssl.enable", "false").equals("true");
        draft.set(entry.key("addresses"), (secure ? "mqtts://" : "") + address, server);
        if (secure) {
            path(block, "ssl.cacertfile", entry.key("tls.ca"));
            path(block, "ssl.certfile", entry.key("tls.certificate"));
            path(block, "ssl.keyfile", entry.key("tls.key"));
            verify(block, entry);
        }
        for (Forward forward : list) {
            if (!add(entry, forward)) {
                draft.note(
                        forward.from,
                        Outcome.NONE,
                        "bridges.<name>.topics: cannot be written as filter, direction, QoS and prefixes");
            }
        }
        version(block, entry);
        OldSetting user = set(block, "username", entry.key("username"), EmqxValue.text());
        OldSetting password = keys.get(block + ".password");
        if (password != null && user != null) {
            draft.privateFile(entry.key("password-file"), "bridge-" + name + ".password", password.value(), password);
        }
        set(block, "clientid_prefix", entry.key("client-id"), EmqxValue.text());
        set(block, "clean_start", entry.key("clean-start"), EmqxValue.flag());
        set(block, "keepalive", entry.key("keep-alive"), EmqxValue.duration(1_000, 1_000, 65_535_000));
        set(block, "bridge_mode", entry.key("try-private"), EmqxValue.flag());
        set(block, "reconnect_interval", entry.key("min-delay"), EmqxValue.duration(1_000, 10, 30_000));
        retain(block, entry);
        connections(block, list, entry);
        entry.finish();
    }

    /** Writes whether the retain flag is taken away; it cannot be set. */
    private void retain(String block, BridgeEntry entry) {
        OldSetting setting = keys.get(block + ".egress.remote.retain");
        if (setting == null || setting.value().contains("retain")) {
            return;
        }
        if (setting.value().strip().equals("false")) {
            draft.set(entry.key("outgoing-retain"), "false", setting);
        } else {
            draft.note(setting, Outcome.DIFFERENT, entry.key("outgoing-retain") + ": the flag stays as it is");
        }
    }

    /** Writes the number of connections, if nothing comes in that another one might have sent. */
    private void connections(String block, List<Forward> list, BridgeEntry entry) {
        for (String theirs : List.of("pool_size", "egress.pool_size")) {
            OldSetting size = keys.get(block + "." + theirs);
            if (size != null && list.stream().anyMatch(forward -> forward.direction.equals("in"))) {
                draft.note(size, Outcome.NONE, entry.key("connections") + ": stays 1, because messages come in, too");
            } else {
                set(block, theirs, entry.key("connections"), EmqxValue.count(1, 64));
            }
        }
    }

    private void version(String block, BridgeEntry entry) {
        OldSetting setting = keys.get(block + ".proto_ver");
        if (setting == null) {
            draft.byDefault(entry.key("version"), "3.1.1", "EMQX's default: v4");
            return;
        }
        String version = setting.value().strip().toLowerCase(Locale.ROOT);
        draft.set(entry.key("version"), version.equals("v5") ? "5" : "3.1.1", setting);
        if (version.equals("v3")) {
            draft.note(setting, Outcome.DIFFERENT, entry.key("version") + ": MQTT 3.1 is not spoken to other brokers");
        }
    }

    private void path(String block, String theirs, String ours) {
        OldSetting setting = keys.get(block + "." + theirs);
        if (setting != null && EmqxPaths.isPem(setting)) {
            draft.note(
                    setting,
                    Outcome.NONE,
                    "is the text of a certificate or key; write it to a file, and name that in " + ours);
        } else if (setting != null) {
            draft.set(ours, paths.of(setting), setting);
        }
    }

    private void verify(String block, BridgeEntry entry) {
        OldSetting setting = keys.get(block + ".ssl." + (keys.has(block + ".ssl.verify") ? "verify" : "enable"));
        if (setting != null && !EmqxPaths.checksServer(keys, block)) {
            draft.note(
                    setting,
                    Outcome.DIFFERENT,
                    entry.key("tls.ca") + ": the certificate of the other broker is checked; name its authority");
        }
    }

    private @Nullable OldSetting set(String block, String theirs, String ours, EmqxValue value) {
        OldSetting setting = keys.get(block + "." + theirs);
        String text = setting == null ? null : value.of(draft, setting);
        if (setting == null || text == null) {
            return null;
        }
        draft.set(ours, text, setting);
        return setting;
    }
}
