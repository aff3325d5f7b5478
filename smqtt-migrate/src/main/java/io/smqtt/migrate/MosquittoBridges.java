// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The blocks {@code connection} of mosquitto.conf as {@code bridges.<name>}. */
final class MosquittoBridges {

    private static final String DEFAULT_PORT_NOTE = "bridges.<name>";
    private static final int PORT = 1883;
    /** The file of a distribution with all certificates of /etc/ssl/certs. */
    private static final String ALL_AUTHORITIES = "ca-certificates.crt";

    private static final long MANY = 100_000_000;
    private static final long FOREVER_SECONDS = 4_294_967_295L;
    private static final long LONGEST_IDLE_SECONDS = 30 * 86_400;
    /** Keys that the connection needs TLS for. */
    private static final Set<String> TLS = Set.of(
            "bridge_cafile",
            "bridge_capath",
            "bridge_certfile",
            "bridge_keyfile",
            "bridge_tls_use_os_certs",
            "bridge_alpn");

    /** One block. */
    private static final class Block {
        private final OldSetting origin;
        private final Map<String, OldSetting> keys = new LinkedHashMap<>();
        private final List<OldSetting> topics = new ArrayList<>();

        Block(OldSetting origin) {
            this.origin = origin;
        }
    }

    private final Draft draft;
    private final List<Block> blocks = new ArrayList<>();
    private final Set<String> names = new HashSet<>();

    MosquittoBridges(Draft draft) {
        this.draft = draft;
    }

    /** Begins a block. */
    void connection(OldSetting setting) {
        blocks.add(new Block(setting));
    }

    /** Adds a key to the last block; before the first one there is nothing that it could belong to. */
    void put(OldSetting setting) {
        if (blocks.isEmpty()) {
            draft.note(setting, Outcome.NONE, "is before the first connection");
            return;
        }
        Block block = blocks.get(blocks.size() - 1);
        if (setting.key().equals("topic")) {
            block.topics.add(setting);
        } else {
            block.keys.put(named(setting.key()), setting);
        }
    }

    /** The newer name of a key. */
    private static String named(String key) {
        return switch (key) {
            case "addresses" -> "address";
            case "clientid" -> "remote_clientid";
            case "username" -> "remote_username";
            case "password" -> "remote_password";
            default -> key;
        };
    }

    /**
     * Writes all bridges.
     *
     * @param queued the limit of queues in mosquitto, which holds for bridges, too; or null
     * @param queuesQos0 whether QoS 0 messages are queued there; or null
     */
    void write(@Nullable OldSetting queued, @Nullable OldSetting queuesQos0) {
        blocks.forEach(block -> write(block, queued, queuesQos0));
    }

    private void write(Block block, @Nullable OldSetting queued, @Nullable OldSetting queuesQos0) {
        String name = Draft.plain(block.origin.value());
        for (int i = 2; !names.add(name); i++) {
            name = Draft.plain(block.origin.value()) + "-" + i;
        }
        BridgeEntry entry = new BridgeEntry(draft, name);
        addresses(block, entry);
        block.topics.forEach(topic -> topic(topic, entry));
        text(block, "remote_clientid", entry.key("client-id"));
        text(block, "remote_username", entry.key("username"));
        text(block, "local_username", entry.key("local-user"));
        version(block, entry);
        flag(block, "try_private", entry.key("try-private"));
        flag(block, "cleansession", entry.key("clean-start"));
        keepAlive(block, entry);
        restart(block, entry);
        if (queued != null) {
            long most = draft.number(queued);
            draft.set(
                    entry.key("max-queued-messages"), String.valueOf(most <= 0 ? MANY : Math.min(MANY, most)), queued);
        }
        if (queuesQos0 != null) {
            draft.set(entry.key("queue-qos0"), String.valueOf(draft.bool(queuesQos0)), queuesQos0);
        }
        options(block, entry);
        tls(block, entry);
        OldSetting password = block.keys.get("remote_password");
        if (password != null && !draft.get(entry.key("username")).isEmpty()) {
            draft.privateFile(entry.key("password-file"), "bridge-" + name + ".password", password.value(), password);
        }
        if (!entry.finish()) {
            draft.dropPrivate(entry.key("password-file"));
            draft.note(
                    block.origin,
                    Outcome.NONE,
                    DEFAULT_PORT_NOTE + ": needs an address and a topic that can be forwarded");
        }
    }

    private void options(Block block, BridgeEntry entry) {
        start(block, entry);
        roundRobin(block, entry);
        number(block, "bridge_max_packet_size", entry.key("max-packet-bytes"), 0, 256L << 20, "");
        number(block, "bridge_receive_maximum", entry.key("receive-maximum"), 1, 65_535, "");
        number(block, "bridge_session_expiry_interval", entry.key("session-expiry"), 0, FOREVER_SECONDS, "s");
        number(block, "bridge_tcp_user_timeout", entry.key("tcp-user-timeout"), 0, 86_400_000, "ms");
        tcpKeepAlive(block, entry);
        flag(block, "bridge_outgoing_retain", entry.key("outgoing-retain"));
        from(block, entry);
        OldSetting state = block.keys.get("notifications");
        text(block, "notification_topic", entry.key("notification-topic"));
        OldSetting local = block.keys.get("notifications_local_only");
        if (state != null && !draft.bool(state)) {
            draft.set(entry.key("notifications"), "none", state);
        } else if (local != null && draft.bool(local)) {
            draft.set(entry.key("notifications"), "local", local);
        } else if (state != null) {
            draft.set(entry.key("notifications"), "both", state);
        } else {
            draft.byDefault(entry.key("notifications"), "both", "mosquitto's default: notifications true");
        }
    }

    private void start(Block block, BridgeEntry entry) {
        number(block, "threshold", entry.key("threshold"), 1, MANY, "");
        number(block, "idle_timeout", entry.key("idle-timeout"), 1, LONGEST_IDLE_SECONDS, "s");
        OldSetting setting = block.keys.get("start_type");
        if (setting == null) {
            return;
        }
        String start = setting.value();
        if (!List.of("automatic", "lazy", "once", "manual").contains(start)) {
            draft.problem(setting, "must be automatic, lazy or once");
        } else if (start.equals("lazy") && entry.comesIn()) {
            draft.set(entry.key("start"), "automatic", setting);
            draft.note(
                    setting,
                    Outcome.DIFFERENT,
                    entry.key("start") + ": a lazy bridge has no topics that come in, so it connects at once");
        } else {
            draft.set(entry.key("start"), start, setting);
        }
    }

    private void number(Block block, String theirs, String ours, long least, long most, String unit) {
        OldSetting setting = block.keys.get(theirs);
        if (setting != null) {
            draft.set(ours, Math.max(least, Math.min(most, draft.number(setting))) + unit, setting);
        }
    }

    private void tcpKeepAlive(Block block, BridgeEntry entry) {
        OldSetting setting = block.keys.get("bridge_tcp_keepalive");
        if (setting == null) {
            return;
        }
        String[] words = setting.value().split("\\s+", -1);
        if (words.length != 3 || !setting.value().matches("[0-9]{1,9}\\s+[0-9]{1,9}\\s+[0-9]{1,9}")) {
            draft.problem(setting, "must have three numbers: idle, interval and counter");
            return;
        }
        draft.set(entry.key("tcp-keep-alive-idle"), Math.min(32_767, Long.parseLong(words[0])) + "s", setting);
        draft.set(entry.key("tcp-keep-alive-interval"), Math.min(32_767, Long.parseLong(words[1])) + "s", setting);
        draft.set(entry.key("tcp-keep-alive-count"), String.valueOf(Math.min(127, Long.parseLong(words[2]))), setting);
    }

    private void roundRobin(Block block, BridgeEntry entry) {
        flag(block, "round_robin", entry.key("round-robin"));
        if (draft.get(entry.key("addresses")).contains(",")) {
            draft.byDefault(entry.key("round-robin"), "false", "mosquitto's default: round_robin false");
        }
    }

    /** The address here, which may also be a name there. */
    private void from(Block block, BridgeEntry entry) {
        OldSetting setting = block.keys.get("bridge_bind_address");
        if (setting == null) {
            return;
        }
        if (setting.value().matches("[0-9.]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")) {
            draft.set(entry.key("bind-address"), setting.value(), setting);
        } else {
            draft.note(setting, Outcome.NONE, entry.key("bind-address") + ": must be an IP address");
        }
    }

    private void tls(Block block, BridgeEntry entry) {
        OldSetting directory = block.keys.get("bridge_capath");
        boolean trusted = directory == null || block.keys.containsKey("bridge_cafile") || bundle(directory, entry);
        if (!trusted || block.keys.containsKey("bridge_psk")) {
            draft.set(entry.key("enabled"), "false", block.origin);
        }
        path(block, "bridge_cafile", entry.key("tls.ca"));
        path(block, "bridge_certfile", entry.key("tls.certificate"));
        path(block, "bridge_keyfile", entry.key("tls.key"));
        text(block, "bridge_alpn", entry.key("tls.alpn"));
        suites(block, entry);
        OldSetting insecure = block.keys.get("bridge_insecure");
        if (insecure != null && isSecure(block)) {
            draft.set(entry.key("tls.verify-host"), String.valueOf(!draft.bool(insecure)), insecure);
        }
    }

    /** Takes the certificates of a directory from the file that has all of them; false if there is none. */
    private boolean bundle(OldSetting directory, BridgeEntry entry) {
        Path file = Path.of(draft.path(directory), ALL_AUTHORITIES);
        if (Files.isRegularFile(file)) {
            draft.set(entry.key("tls.ca"), file.toString(), directory);
            return true;
        }
        draft.note(
                directory,
                Outcome.NONE,
                entry.key("tls.ca")
                        + ": needs one file: concatenate the certificates of the directory; until it is set, the bridge is off");
        return false;
    }

    /** The versions and suites, for which there are two lists there and one here. */
    private void suites(Block block, BridgeEntry entry) {
        OldSetting version = block.keys.get("bridge_tls_version");
        if (!isSecure(block)) {
            return;
        }
        if (version != null) {
            switch (version.value()) {
                case "tlsv1.3" -> draft.set(entry.key("tls.min-version"), "1.3", version);
                case "tlsv1.2" -> draft.set(entry.key("tls.min-version"), "1.2", version);
                case "tlsv1.1", "tlsv1" -> {
                    draft.set(entry.key("tls.min-version"), "1.2", version);
                    draft.note(version, Outcome.DIFFERENT, entry.key("tls.min-version") + ": TLS 1.2 or 1.3 only");
                }
                default -> draft.problem(version, "must be tlsv1.2 or tlsv1.3");
            }
        }
        List<String> before = suites(block.keys.get("bridge_ciphers"), entry);
        List<String> newest = suites(block.keys.get("bridge_ciphers_tls1.3"), entry);
        if (before.isEmpty() && newest.isEmpty()) {
            return;
        }
        OldSetting from = block.keys.get(before.isEmpty() ? "bridge_ciphers_tls1.3" : "bridge_ciphers");
        if (from != null) {
            List<String> all = new ArrayList<>(newest.isEmpty() ? List.of(CipherNames.TLS_1_3) : newest);
            all.addAll(before.isEmpty() ? CipherNames.withForwardSecrecy() : before);
            draft.set(entry.key("tls.ciphers"), String.join(",", all), from);
        }
    }

    private List<String> suites(@Nullable OldSetting setting, BridgeEntry entry) {
        List<String> known = new ArrayList<>();
        if (setting != null) {
            for (String name : setting.value().split("[:,\\s]+", -1)) {
                String standard = CipherNames.standard(name);
                if (standard != null) {
                    known.add(standard);
                } else {
                    draft.note(
                            setting,
                            Outcome.NONE,
                            entry.key("tls.ciphers") + ": the Java runtime has no suite " + name);
                }
            }
        }
        return known;
    }

    private void path(Block block, String theirs, String ours) {
        OldSetting setting = block.keys.get(theirs);
        if (setting != null && !setting.value().isEmpty()) {
            draft.set(ours, draft.path(setting), setting);
        }
    }

    private static boolean isSecure(Block block) {
        return block.keys.keySet().stream().anyMatch(TLS::contains);
    }

    private void addresses(Block block, BridgeEntry entry) {
        OldSetting setting = block.keys.get("address");
        if (setting == null) {
            return;
        }
        List<String> addresses = new ArrayList<>();
        for (String word : setting.value().split("\\s+", -1)) {
            String address = BridgeEntry.address(word, PORT);
            if (address == null) {
                draft.problem(setting, "must have host, host:port or several of them");
                return;
            }
            addresses.add((isSecure(block) ? "mqtts://" : "") + address);
        }
        draft.set(entry.key("addresses"), String.join(",", addresses), setting);
    }

    private void topic(OldSetting setting, BridgeEntry entry) {
        String[] words = setting.value().split("\\s+", -1);
        String direction = words.length > 1 ? words[1].toLowerCase(Locale.ROOT) : "out";
        boolean known = List.of("out", "in", "both").contains(direction) && words.length <= 5;
        String local = prefix(words, 3);
        String remote = prefix(words, 4);
        if (!known
                || !entry.topic(
                        setting, prefix(words, 0), direction, words.length > 2 ? words[2] : "0", local, remote)) {
            draft.note(
                    setting,
                    Outcome.NONE,
                    "bridges.<name>.topics: cannot be written as filter, direction, QoS and prefixes");
        }
    }

    private static String prefix(String[] words, int at) {
        return words.length <= at || words[at].equals("\"\"") ? "" : words[at];
    }

    private void text(Block block, String theirs, String ours) {
        OldSetting setting = block.keys.get(theirs);
        if (setting != null && !setting.value().isEmpty()) {
            draft.set(ours, setting.value(), setting);
        }
    }

    private void flag(Block block, String theirs, String ours) {
        OldSetting setting = block.keys.get(theirs);
        if (setting != null) {
            draft.set(ours, String.valueOf(draft.bool(setting)), setting);
        }
    }

    private void version(Block block, BridgeEntry entry) {
        OldSetting setting = block.keys.get("bridge_protocol_version");
        if (setting == null) {
            draft.byDefault(entry.key("version"), "3.1.1", "mosquitto's default: mqttv311");
            return;
        }
        switch (setting.value()) {
            case "mqttv50" -> draft.set(entry.key("version"), "5", setting);
            case "mqttv311" -> draft.set(entry.key("version"), "3.1.1", setting);
            case "mqttv31" -> {
                draft.set(entry.key("version"), "3.1.1", setting);
                draft.note(
                        setting, Outcome.DIFFERENT, entry.key("version") + ": MQTT 3.1 is not spoken to other brokers");
            }
            default -> draft.problem(setting, "must be mqttv31, mqttv311 or mqttv50");
        }
    }

    private void keepAlive(Block block, BridgeEntry entry) {
        OldSetting setting = block.keys.get("keepalive_interval");
        if (setting != null) {
            long seconds = draft.number(setting);
            draft.set(entry.key("keep-alive"), Math.max(1, Math.min(65_535, seconds)) + "s", setting);
        }
    }

    /** One number is a fixed delay, two are the first and the longest one. */
    private void restart(Block block, BridgeEntry entry) {
        OldSetting setting = block.keys.get("restart_timeout");
        if (setting == null) {
            return;
        }
        String[] words = setting.value().split("\\s+", -1);
        long first = draft.number(new OldSetting(setting.key(), words[0], setting.where()));
        if (words.length > 2) {
            draft.note(
                    setting,
                    Outcome.DIFFERENT,
                    entry.key("min-delay") + ": the delay begins anew after 30 s of connection");
        }
        long longest =
                words.length > 1 ? draft.number(new OldSetting(setting.key(), words[1], setting.where())) : first;
        long least = Math.max(1, Math.min(3_600, first));
        draft.set(entry.key("min-delay"), least + "s", setting);
        draft.set(entry.key("max-delay"), Math.max(least, Math.min(86_400, longest)) + "s", setting);
    }
}
