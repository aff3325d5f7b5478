// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.netty.util.NetUtil;
import io.smqtt.ClientDetails;
import io.smqtt.ClientInfo;
import io.smqtt.Explanation;
import io.smqtt.message.LogText;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterStatus.PeerStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Prints the records of a {@link BrokerView} as text. Texts from clients and nodes are escaped. */
final class PlainText {

    private static final List<String> CLIENTS = List.of(
            "CLIENT", "STATE", "USER", "ADDRESS", "LISTENER", "VERSION", "SUBSCRIPTIONS", "IN FLIGHT", "QUEUED");
    private static final List<String> NODES = List.of(
            "NODE", "STATE", "VERSION", "ADDRESS", "WEIGHT", "ROUTES", "LAG", "QUEUED", "PARKED", "DROPPED", "HEARD");

    private PlainText() {}

    static String of(Page<ClientInfo> page) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(CLIENTS);
        page.shown().forEach(client -> rows.add(row(client)));
        return table(rows) + page.shown().size() + " of " + page.total() + " sessions\n";
    }

    private static List<String> row(ClientInfo client) {
        return List.of(
                LogText.escape(client.identity().clientId()),
                client.connected() ? "online" : "offline",
                LogText.escape(client.identity().userName()),
                NetUtil.toSocketAddressString(client.identity().remoteAddress()),
                client.identity().listener(),
                version(client),
                Integer.toString(client.subscriptions()),
                Integer.toString(client.inFlight()),
                Integer.toString(client.queued()));
    }

    private static String version(ClientInfo client) {
        String number = Fields.lowerCase(client.identity().version())
                .replace("mqtt_", "")
                .replace('_', '.');
        return client.identity().bridge() ? number + " bridge" : number;
    }

    static String ofClient(Bounded<ClientDetails> bounded) {
        ClientDetails details = bounded.answer();
        StringBuilder text = new StringBuilder(table(List.of(CLIENTS, row(details.info()))));
        text.append("keep alive: ").append(seconds(details.keepAlive(), "none"));
        text.append(", session expires: ").append(expiry(details.sessionExpiry()));
        text.append(details.stored() ? ", stored" : ", in memory").append('\n');
        text.append("queue: ").append(details.info().queued()).append(" messages, ");
        text.append(details.queuedBytes()).append(" bytes; in-flight limit: ").append(details.sendMaximum());
        text.append('\n');
        for (ClientDetails.Filter filter : details.subscriptions()) {
            text.append("  ").append(LogText.escape(filter.filter()));
            text.append(", QoS ").append(filter.maximumQos().level());
            text.append(filter.noLocal() ? ", no local" : "");
            text.append(filter.retainAsPublished() ? ", retain as published" : "");
            text.append(filter.identifier() == 0 ? "" : ", identifier " + filter.identifier());
            text.append('\n');
        }
        return text.append(leftOut(bounded.leftOut())).toString();
    }

    private static String expiry(@Nullable Duration expiry) {
        if (expiry == null) {
            return "never";
        }
        return expiry.isZero() ? "with its connection" : seconds(expiry, "") + " after its connection";
    }

    private static String seconds(@Nullable Duration duration, String none) {
        return duration == null ? none : duration.toSeconds() + " s";
    }

    static String ofExplanation(Bounded<Explanation> bounded) {
        return bounded.answer() + leftOut(bounded.leftOut());
    }

    /** One line; empty if nothing is missing. */
    private static String leftOut(Map<String, Integer> counts) {
        if (counts.isEmpty()) {
            return "";
        }
        List<String> parts = new ArrayList<>();
        counts.forEach((name, count) -> parts.add(count + " " + words(name)));
        return "left out, since the answer would be too long: " + String.join(", ", parts) + "\n";
    }

    private static String words(String name) {
        return name.replaceAll("(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
    }

    static String of(ClusterStatus status) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(NODES);
        rows.add(row(status.self(), Fields.lowerCase(status.state()) + " (this)", "-", "-", "-", "-", "-"));
        for (PeerStatus peer : status.peers()) {
            rows.add(row(
                    peer.node(),
                    peer.reachable() ? "reachable" : "gone",
                    Long.toString(peer.routeLag()),
                    Integer.toString(peer.queuedMessages()),
                    Integer.toString(peer.parkedMessages()),
                    Long.toString(peer.dropped()),
                    String.format(Locale.ROOT, "%.1f s ago", peer.heardMillis() / 1_000.0)));
        }
        return table(rows) + summary(status);
    }

    private static List<String> row(ClusterStatus.Node node, String state, String... more) {
        List<String> row = new ArrayList<>();
        row.add(LogText.escape(node.nodeId()));
        row.add(state);
        row.add(shown(node.version()));
        row.add(shown(node.address()));
        row.add(Integer.toString(node.weight()));
        row.add(Integer.toString(node.routes()));
        row.addAll(List.of(more));
        return row;
    }

    private static String shown(String said) {
        return said.isEmpty() ? "?" : LogText.escape(said);
    }

    private static String summary(ClusterStatus status) {
        ClusterStatus.Traffic traffic = status.traffic();
        ClusterStatus.Wills wills = status.wills();
        ClusterStatus.Retained retained = status.retained();
        return """
                ready: %s, %d of %d nodes together%s
                forwarded: %d messages in %d frames, %d bytes; received: %d bytes
                routes: %d pulls, %d repairs; malformed frames: %d; refused connections: %d
                wills: %d of this node, %d refused; kept for other nodes: %d, %d bytes
                retained: %d refused, %d parts to compare, %d compared; removed: %d topics, %d bytes, %d forgotten early
                """.formatted(
                        status.isReady() ? "yes" : "no",
                        status.reachableNodes(),
                        1 + status.peers().size(),
                        status.minMembers() == 0 ? "" : ", " + status.minMembers() + " wanted",
                        traffic.forwardedMessages(),
                        traffic.forwardedFrames(),
                        traffic.forwardedBytes(),
                        traffic.receivedBytes(),
                        traffic.pulls(),
                        traffic.repairs(),
                        traffic.malformedFrames(),
                        traffic.refusedConnections().values().stream()
                                .mapToLong(Long::longValue)
                                .sum(),
                        wills.own(),
                        wills.refused(),
                        wills.held(),
                        wills.heldBytes(),
                        retained.refused(),
                        retained.comparing(),
                        retained.compared(),
                        retained.cleared(),
                        retained.clearedBytes(),
                        retained.forgotten());
    }

    /** Aligns rows of equal length in columns; the first row is the head. */
    private static String table(List<List<String>> rows) {
        int[] widths = new int[rows.get(0).size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                line.append(row.get(i)).append(" ".repeat(widths[i] - row.get(i).length() + 2));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
