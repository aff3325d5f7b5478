// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.message.LogText;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterStatus.PeerStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The cluster's state as a table for people. */
final class ClusterText {

    private static final List<String> HEAD =
            List.of("NODE", "STATE", "VERSION", "ADDRESS", "WEIGHT", "ROUTES", "LAG", "QUEUED", "PARKED", "HEARD");

    private ClusterText() {}

    static String of(ClusterStatus status) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(HEAD);
        rows.add(row(status.self(), Tagged.of(status.state()) + " (this)", "-", "-", "-", "-"));
        for (PeerStatus peer : status.peers()) {
            rows.add(row(
                    peer.node(),
                    peer.reachable() ? "reachable" : "gone",
                    Long.toString(peer.routeLag()),
                    Integer.toString(peer.queuedMessages()),
                    Integer.toString(peer.parkedMessages()),
                    String.format(Locale.ROOT, "%.1f s ago", peer.heardMillis() / 1_000.0)));
        }
        StringBuilder text = new StringBuilder();
        int[] widths = widths(rows);
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                String cell = row.get(i);
                line.append(cell).append(" ".repeat(widths[i] - cell.length() + 2));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.append(summary(status)).toString();
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

    private static int[] widths(List<List<String>> rows) {
        int[] widths = new int[HEAD.size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        return widths;
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
}
