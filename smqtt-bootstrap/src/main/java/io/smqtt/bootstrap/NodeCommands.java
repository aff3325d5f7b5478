// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code ctl status}, {@code nodes}, {@code stats}, {@code metrics} and {@code cluster}: the nodes and how they are. */
final class NodeCommands {

    private NodeCommands() {}

    /** Shows whether the broker runs. */
    @Command(name = "status", description = "Shows whether the broker runs, and its version. Needs no token.")
    static final class Status extends CtlRequest {

        Status(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.get("/status?format=json"));
        }
    }

    /** Lists the nodes. */
    @Command(
            name = "nodes",
            description = "Lists the nodes with version, uptime, connections and memory, or shows one.")
    static final class Nodes extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("node"),
                Column.of("STATUS", "node_status"),
                Column.of("version"),
                new Column("UPTIME", node -> uptime(node.path("uptime"))),
                Column.of("SESSIONS", "connections"),
                Column.of("CONNECTED", "live_connections"),
                new Column("MEMORY", node -> mebibytes(node.path("memory_used"))),
                new Column("MAXIMUM", node -> mebibytes(node.path("memory_total"))),
                new Column("LOAD", node -> load(node.path("load1"))));

        @Nullable
        @Parameters(arity = "0..1", paramLabel = "NODE", description = "Is the node to show.")
        String node;

        Nodes(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            if (node != null) {
                out.object(api.get(BrokerApi.path("/nodes/{node}", node)));
            } else {
                out.list(api, new Listing("/nodes", Paging.NONE, 0), COLUMNS, "nodes");
            }
        }

        private static String uptime(JsonNode millis) {
            long minutes = millis.asLong() / 60_000;
            return millis.isMissingNode()
                    ? "-"
                    : String.format(Locale.ROOT, "%d d %02d:%02d", minutes / 1_440, minutes / 60 % 24, minutes % 60);
        }

        private static String load(JsonNode load) {
            return load.isNumber() ? String.format(Locale.ROOT, "%.2f", load.asDouble()) : "-";
        }

        private static String mebibytes(JsonNode bytes) {
            return bytes.isMissingNode() ? "-" : (bytes.asLong() >> 20) + " MiB";
        }
    }

    /** Figures of all nodes together, or of one. */
    private abstract static class Figures extends CtlRequest {

        private final String name;

        @Nullable
        @Parameters(arity = "0..1", paramLabel = "NODE", description = "Is the only node to ask.")
        String node;

        Figures(ProgramContext program, String name) {
            super(program);
            this.name = name;
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.get(
                    node == null ? "/" + name + "?aggregate=true" : BrokerApi.path("/nodes/{node}/" + name, node)));
        }
    }

    /** Shows what there is. */
    @Command(
            name = "stats",
            description = "Shows how many sessions, subscriptions, retained messages and so on there are.")
    static final class Stats extends Figures {

        Stats(ProgramContext program) {
            super(program, "stats");
        }
    }

    /** Shows counters. */
    @Command(name = "metrics", description = "Shows the counters of packets, messages and bytes since the start.")
    static final class Metrics extends Figures {

        Metrics(ProgramContext program) {
            super(program, "metrics");
        }
    }

    /** Shows the cluster. */
    @Command(
            name = "cluster",
            description =
                    "Shows the cluster as one node sees it: role, version, address, weight, routes, pending frames, "
                            + "repairs; and the replicas of stores on this node.")
    static final class Cluster extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("NODE", "node-id"),
                Column.of("STATE", "state"),
                Column.of("role"),
                Column.of("version"),
                Column.of("address"),
                Column.of("weight"),
                Column.of("routes"),
                Column.of("LAG", "route-lag"),
                Column.of("QUEUED", "queued-messages"),
                Column.of("PARKED", "parked-messages"),
                Column.of("dropped"),
                Column.of("heard"));

        private static final List<Column> REPLICAS = List.of(
                Column.of("STORE OF", "store"),
                new Column("LEADER", Cluster::leader),
                new Column("SERVED BY", row -> row.path("server").asText("-")),
                Column.of("term"),
                new Column("REPLICAS ON", row -> joined(row.path("members"))),
                new Column("CONNECTED", row -> joined(row.path("connected"))),
                new Column(
                        "ENTRY",
                        row -> row.path("committed-entry").asText("-")
                                + (row.path("voter").asBoolean(true) ? "" : " (new)")),
                new Column("BEHIND", Cluster::behind));

        Cluster(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            JsonNode answer = api.get("/cluster");
            JsonNode status = answer.path("status");
            if (out.isJson()) {
                out.object(answer);
            } else if (!status.isObject()) {
                out.line("this broker is not a node of a cluster");
            } else {
                out.table(COLUMNS, rows(status));
                summary(status).forEach(out::line);
                if (!answer.path("replicas").isEmpty()) {
                    out.line("");
                    List<JsonNode> replicas = new ArrayList<>();
                    for (JsonNode replica : answer.path("replicas")) {
                        ObjectNode row = replica.deepCopy();
                        replicas.add(row.put("store", storeOf(row, answer.path("places"))));
                    }
                    out.table(REPLICAS, replicas);
                }
            }
        }

        /** The node, and behind it the place that it holds if that has another name. */
        private static String storeOf(JsonNode replica, JsonNode places) {
            String place = replica.path("home").asText();
            return places.hasNonNull(place) ? places.path(place).asText() + " (place " + place + ")" : place;
        }

        private static String joined(JsonNode names) {
            List<String> all = new ArrayList<>();
            names.forEach(name -> all.add(name.asText()));
            return String.join(" ", all);
        }

        private static String leader(JsonNode replica) {
            return replica.hasNonNull("failure")
                    ? "failed: " + replica.path("failure").asText()
                    : replica.path("leader").asText("none");
        }

        private static String lag(JsonNode lag) {
            long entries = lag.path("entries").asLong();
            return entries == 0 ? "0" : entries + " (" + lag.path("bytes").asLong() + " bytes)";
        }

        /** The leader alone knows it. */
        private static String behind(JsonNode replica) {
            List<String> all = new ArrayList<>();
            replica.path("behind")
                    .fields()
                    .forEachRemaining(member -> all.add(member.getKey() + " " + lag(member.getValue())));
            return all.isEmpty() ? "-" : String.join(", ", all);
        }

        private static List<JsonNode> rows(JsonNode status) {
            List<JsonNode> rows = new ArrayList<>();
            ObjectNode self = BrokerApi.object();
            self.setAll((ObjectNode) status.path("self").deepCopy());
            rows.add(self.put("state", status.path("state").asText() + " (this)"));
            for (JsonNode peer : status.path("peers")) {
                ObjectNode row = BrokerApi.object();
                peer.fields().forEachRemaining(field -> row.set(field.getKey(), field.getValue()));
                long dropped = 0;
                for (JsonNode count : peer.path("dropped-messages")) {
                    dropped += count.asLong();
                }
                rows.add(row.put("state", peer.path("reachable").asBoolean() ? "reachable" : "gone")
                        .put("dropped", dropped)
                        .put(
                                "heard",
                                String.format(
                                        Locale.ROOT,
                                        "%.1f s ago",
                                        peer.path("heard-ms").asLong() / 1_000.0)));
            }
            return rows;
        }

        private static List<String> summary(JsonNode status) {
            JsonNode traffic = status.path("traffic");
            JsonNode wills = status.path("wills");
            JsonNode retained = status.path("retained");
            int fronts = isFront(status.path("self")) ? 1 : 0;
            int all = 1 - fronts; // full nodes, which min-members counts
            int together = all;
            int reached = fronts;
            for (JsonNode peer : status.path("peers")) {
                int up = peer.path("reachable").asBoolean() ? 1 : 0;
                boolean front = isFront(peer);
                fronts += front ? 1 : 0;
                reached += front ? up : 0;
                all += front ? 0 : 1;
                together += front ? 0 : up;
            }
            long wanted = status.path("min-members").asLong();
            JsonNode relay = status.path("relay");
            List<String> lines = new ArrayList<>(List.of(
                    "ready: " + (status.path("ready").asBoolean() ? "yes" : "no") + ", " + together + " of "
                            + all + " nodes together" + (wanted == 0 ? "" : ", " + wanted + " wanted")
                            + (fronts == 0 ? "" : "; " + reached + " of " + fronts + " front nodes"),
                    filled(
                            "forwarded: {forwarded-messages} messages in {forwarded-frames} frames, "
                                    + "{forwarded-bytes} bytes; received: {received-bytes} bytes",
                            traffic),
                    filled(
                                    "routes: {pulls} pulls, {repairs} repairs; malformed frames: {malformed-frames}; "
                                            + "refused connections: ",
                                    traffic)
                            + sum(traffic.path("refused-connections")),
                    filled(
                            "wills: {own} of this node, {refused} refused; kept for other nodes: {held}, "
                                    + "{held-bytes} bytes",
                            wills),
                    filled(
                            "retained: {refused} refused, {comparing} parts to compare, {compared} compared; removed: "
                                    + "{cleared} topics, {cleared-bytes} bytes, {forgotten} forgotten early",
                            retained)));
            if (relay.path("opened").asLong() > 0 || isFront(status.path("self"))) {
                lines.add(filled(
                                "relayed: {connections} connections, {waiting} waiting, {opened} since the start; refused: ",
                                relay)
                        + sum(relay.path("refused")));
            }
            return lines;
        }

        private static boolean isFront(JsonNode node) {
            return "front".equals(node.path("role").asText());
        }

        private static long sum(JsonNode counts) {
            long sum = 0;
            for (JsonNode count : counts) {
                sum += count.asLong();
            }
            return sum;
        }

        /** A text whose names in braces are replaced by fields. */
        private static String filled(String text, JsonNode fields) {
            String filled = text;
            for (int begin = filled.indexOf('{'); begin >= 0; begin = filled.indexOf('{')) {
                int end = filled.indexOf('}', begin);
                String value = fields.path(filled.substring(begin + 1, end)).asText("-");
                filled = filled.substring(0, begin) + value + filled.substring(end + 1);
            }
            return filled;
        }
    }

    /** Gives a place to another node. */
    @Command(
            name = "replace",
            description =
                    "Gives the place of a lost node with replicas to another one, while the others run. Start that with an "
                            + "empty data directory then.")
    static final class Replace extends CtlRequest {

        @Parameters(index = "0", paramLabel = "OLD", description = "Is the lost node, which does not run any more.")
        String old = "";

        @Parameters(
                index = "1",
                paramLabel = "NEW",
                description = "Is the cluster.node-id of the node that is to hold its place.")
        String by = "";

        Replace(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            ObjectNode body = BrokerApi.object();
            body.put("node", old).put("by", by);
            JsonNode answer = api.send("POST", "/cluster/replace", body);
            String place = answer.path("place").asText();
            out.done(
                    answer,
                    "node " + by + " holds the place of " + old
                            + " from now on. Start it with an empty data directory, " + "cluster.node-id " + by
                            + " and the entry " + place + "/" + by + "=HOST:PORT in cluster.nodes");
        }
    }
}
