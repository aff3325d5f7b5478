// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of emqx.conf, by name and by block: a listener, an entry of a list, a connector. */
final class EmqxKeys {

    /** Types of connectors whose actions become those of rules. */
    static final List<String> SINKS =
            List.of("http", "influxdb", "pgsql", "timescale", "matrix", "mysql", "kafka_producer", "rabbitmq", "redis");

    private static final Pattern BLOCK = Pattern.compile("(listeners\\.(?:tcp|ssl|ws|wss)\\.[^.]+"
            + "|authentication(?:\\[[0-9]+])?|authorization\\.sources\\[[0-9]+]"
            + "|rewrite\\[[0-9]+]|auto_subscribe\\.topics\\[[0-9]+]"
            + "|(?:bridges|connectors|actions|sources)\\.mqtt\\.[^.]+|(?:connectors|actions)\\.(?:"
            + String.join("|", SINKS)
            + ")\\.[^.]+|rule_engine\\.rules\\.[^.]+)\\.(.+)");

    private final Map<String, OldSetting> all = new LinkedHashMap<>();
    private final Map<String, Set<String>> blocks = new LinkedHashMap<>();

    EmqxKeys(List<OldSetting> settings) {
        for (OldSetting setting : settings) {
            all.put(setting.key(), setting);
            String block = block(setting.key());
            if (!block.isEmpty()) {
                blocks.computeIfAbsent(kind(block), kind -> new LinkedHashSet<>())
                        .add(block);
            }
        }
    }

    /** All keys in the order of the file. */
    Collection<OldSetting> all() {
        return all.values();
    }

    /** A key that has a value; null if there is none. */
    @Nullable
    OldSetting get(String key) {
        OldSetting setting = all.get(key);
        return setting == null || setting.value().isEmpty() ? null : setting;
    }

    /** The value of a key. */
    String text(String key, String absent) {
        OldSetting setting = get(key);
        return setting == null ? absent : setting.value().strip();
    }

    /** Whether a block is on; {@code enable} and {@code enabled} mean the same. */
    boolean isOn(String block) {
        String text = text(block + ".enable", text(block + ".enabled", "true")).toLowerCase(Locale.ROOT);
        return !text.equals("false");
    }

    boolean has(String key) {
        return all.containsKey(key);
    }

    /** Whether there is a key with a prefix. */
    boolean hasBelow(String prefix) {
        return all.keySet().stream().anyMatch(key -> key.startsWith(prefix));
    }

    /** The keys that begin with a prefix. */
    List<OldSetting> below(String prefix) {
        List<OldSetting> found = new ArrayList<>();
        all.forEach((key, setting) -> {
            if (key.startsWith(prefix)) {
                found.add(setting);
            }
        });
        return found;
    }

    /** The blocks of a kind, such as {@code listeners.tcp} or {@code rewrite}, in the order of the file. */
    List<String> blocks(String kind) {
        return List.copyOf(blocks.getOrDefault(kind, Set.of()));
    }

    /** The block of a key; empty if it is in none. */
    static String block(String key) {
        Matcher matcher = BLOCK.matcher(key);
        return matcher.matches() ? matcher.group(1) : "";
    }

    /** The key within its block. */
    static String rest(String key) {
        Matcher matcher = BLOCK.matcher(key);
        return matcher.matches() ? matcher.group(2) : key;
    }

    /** The last name of a block. */
    static String name(String block) {
        return block.substring(block.lastIndexOf('.') + 1);
    }

    private static String kind(String block) {
        if (block.endsWith("]") || block.equals("authentication")) {
            int bracket = block.lastIndexOf('[');
            return bracket < 0 ? block : block.substring(0, bracket);
        }
        return block.substring(0, block.lastIndexOf('.'));
    }
}
