// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A bridge of another broker as {@code bridges.<name>}: its topics, and whether it can be written at all. */
final class BridgeEntry {

    private final Draft draft;
    private final String prefix;
    private final List<String> topics = new ArrayList<>();
    private @Nullable OldSetting first;
    private boolean comesIn;

    /**
     * Creates an entry.
     *
     * @param draft what is written
     * @param name the name of the bridge here
     */
    BridgeEntry(Draft draft, String name) {
        this.draft = draft;
        this.prefix = "bridges." + name + ".";
    }

    /** This broker's key for a part of the bridge. */
    String key(String part) {
        return prefix + part;
    }

    /**
     * Adds a topic, with its prefixes.
     *
     * @param from where it comes from
     * @param filter the filter without prefixes; empty if the prefixes are whole topic names
     * @param direction out, in or both
     * @param qos the highest QoS
     * @param local the prefix here, or empty
     * @param remote the prefix at the other broker, or empty
     * @return whether it can be written
     */
    boolean topic(OldSetting from, String filter, String direction, String qos, String local, String remote) {
        boolean possible = isFilter(local + filter) && isFilter(remote + filter) && isPlain(local) && isPlain(remote);
        if (!possible || !qos.matches("[012]")) {
            return false;
        }
        first = first == null ? from : first;
        comesIn |= !direction.equals("out");
        if (!filter.isEmpty()) {
            String tail = local.isEmpty() && remote.isEmpty() ? "" : " " + quoted(local) + " " + quoted(remote);
            topics.add(filter + " " + direction + " " + qos + tail);
            return true;
        }
        if (!direction.equals("in")) {
            topics.add(local + " out " + qos + " => " + remote);
        }
        if (!direction.equals("out")) {
            topics.add(remote + " in " + qos + " => " + local);
        }
        return true;
    }

    /**
     * Adds a topic with another name.
     *
     * @param name the name, with <code>${topic}</code> for the whole topic
     * @return whether it can be written
     */
    boolean named(OldSetting from, String filter, String direction, String qos, String name) {
        boolean plain = name.chars().noneMatch(c -> c <= ' ' || c == ',' || c == '+' || c == '#');
        boolean known = name.replace("${topic}", "").indexOf('$') < 0 && !name.isEmpty();
        if (!isFilter(filter) || !plain || !known || !qos.matches("[012]")) {
            return false;
        }
        topics.add(filter + " " + direction + " " + qos + " => " + name);
        comesIn |= direction.equals("in");
        first = first == null ? from : first;
        return true;
    }

    /** Whether a topic that was added comes in. */
    boolean comesIn() {
        return comesIn;
    }

    /** Writes the topics; without any the bridge is left out. */
    boolean finish() {
        if (first == null || !draft.has(key("addresses"))) {
            draft.dropBelow(prefix);
            return false;
        }
        draft.set(key("topics"), String.join(",", topics), first);
        return true;
    }

    private static boolean isPlain(String prefix) {
        return prefix.indexOf('+') < 0 && prefix.indexOf('#') < 0;
    }

    private static boolean isFilter(String text) {
        try {
            TopicFilter.of(text);
            return text.chars().noneMatch(c -> c <= ' ' || c == ',') && !SharedFilter.isShared(text);
        } catch (InvalidTopicException e) {
            return false;
        }
    }

    private static String quoted(String prefix) {
        return prefix.isEmpty() ? "\"\"" : prefix;
    }

    /** An address with its port; null if it is none. */
    static @Nullable String address(String text, int port) {
        int colon = text.lastIndexOf(':');
        boolean given = colon > text.lastIndexOf(']') && colon >= 0 && text.indexOf(':') == colon
                || text.startsWith("[") && colon > text.lastIndexOf(']');
        String host = given ? text.substring(0, colon) : text;
        String number = given ? text.substring(colon + 1) : String.valueOf(port);
        boolean plain = host.matches("[A-Za-z0-9._-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}]") && number.matches("[0-9]{1,5}");
        return plain && Integer.parseInt(number) > 0 && Integer.parseInt(number) <= 65_535 ? host + ":" + number : null;
    }

    /**
     * The addresses as URLs with their ports, with commas between them.
     *
     * @param scheme what they begin with
     * @param port of addresses without one
     * @return empty if there is no address, or one of them is none
     */
    static String urls(String scheme, List<String> addresses, int port) {
        List<String> urls = new ArrayList<>();
        for (String text : addresses) {
            String address = address(text.strip(), port);
            if (address == null) {
                return "";
            }
            urls.add(scheme + address);
        }
        return String.join(",", urls);
    }
}
