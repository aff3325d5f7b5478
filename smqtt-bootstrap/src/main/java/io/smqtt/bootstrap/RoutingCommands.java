// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import io.smqtt.message.LogText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl subscriptions}, {@code groups}, {@code topics} and {@code explain}: where messages go. */
final class RoutingCommands {

    private RoutingCommands() {}

    /** Lists subscriptions. */
    @Command(name = "subscriptions", description = "Lists the subscriptions of all clients.")
    static final class Subscriptions extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("CLIENT", "clientid"), Column.of("FILTER", "topic"), Column.of("qos"), Column.of("node"));

        @Nullable
        @Option(names = "--client", paramLabel = "ID", description = "Shows only subscriptions of this client.")
        String client;

        @Nullable
        @Option(
                names = "--filter",
                paramLabel = "FILTER",
                description = "Shows only subscriptions to this very filter.")
        String filter;

        @Nullable
        @Option(
                names = "--match",
                paramLabel = "TOPIC",
                description = "Shows only subscriptions whose filter matches this topic name.")
        String match;

        @Nullable
        @Option(names = "--share", paramLabel = "NAME", description = "Shows only shared subscriptions of this name.")
        String share;

        @Nullable
        @Option(names = "--qos", paramLabel = "QOS", description = "Shows only subscriptions of this maximum QoS.")
        Integer qos;

        @Mixin
        NodeOption only = new NodeOption();

        @Mixin
        LimitOption shown = new LimitOption();

        Subscriptions(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            Map<String, @Nullable Object> query = new LinkedHashMap<>();
            query.put("clientid", client);
            query.put("topic", filter);
            query.put("match_topic", match);
            query.put("share_group", share);
            query.put("qos", qos);
            only.addTo(query);
            String path = BrokerApi.query("/subscriptions", query);
            out.list(api, new Listing(path, Paging.CURSOR, shown.limit), COLUMNS, "subscriptions");
        }
    }

    /** Lists shared groups. */
    @Command(
            name = "groups",
            description = "Lists the groups of shared subscriptions with their members and the messages that wait for "
                    + "them, once for each node.")
    static final class Groups extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("GROUP", "share_group"),
                Column.of("FILTER", "topic"),
                Column.of("members"),
                Column.of("ONLINE", "members_online"),
                Column.of("IN FLIGHT", "members_inflight"),
                Column.of("QUEUED", "mqueue_len"),
                Column.of("BYTES", "mqueue_bytes"),
                Column.of("WAITING SINCE", "waiting_since"),
                Column.of("node"));

        @Mixin
        NodeOption only = new NodeOption();

        @Nullable
        @Parameters(arity = "0..1", paramLabel = "NAME", description = "Is the only share name to show.")
        String name;

        Groups(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            Map<String, @Nullable Object> query = new LinkedHashMap<>();
            query.put("share_group", name);
            only.addTo(query);
            String path = BrokerApi.query("/shared_groups", query);
            out.list(api, new Listing(path, Paging.CURSOR, 0), COLUMNS, "groups");
        }
    }

    /** Lists filters. */
    @Command(
            name = "topics",
            description = "Lists the filters that clients have subscribed to, once for each node; or the nodes of one "
                    + "filter.")
    static final class Topics extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(Column.of("FILTER", "topic"), Column.of("node"));

        @Mixin
        NodeOption only = new NodeOption();

        @Mixin
        LimitOption shown = new LimitOption();

        @Nullable
        @Parameters(arity = "0..1", paramLabel = "FILTER", description = "Is the only filter to show.")
        String filter;

        Topics(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            Map<String, @Nullable Object> query = new LinkedHashMap<>();
            only.addTo(query);
            Listing listing = filter == null
                    ? new Listing(BrokerApi.query("/topics", query), Paging.CURSOR, shown.limit)
                    : new Listing(BrokerApi.path("/topics/{topic}", filter), Paging.NONE, shown.limit);
            out.list(api, listing, COLUMNS, "filters");
        }
    }

    /** Explains what would become of a message. */
    @Command(
            name = "explain",
            description = "Shows what would happen to a message of QoS 1, without publishing one: matching filters, "
                    + "receivers, denied receivers, queues, other nodes.")
    static final class Explain extends CtlRequest {

        private static final List<Column> FILTERS = List.of(
                Column.of("filter"),
                new Column("PATH", match -> LogText.escape(joined(match.path("path"), " > "))),
                Column.of("subscribers"));

        private static final List<Column> RECEIVERS = List.of(
                Column.of("RECEIVER", "id"),
                new Column("BY", one -> LogText.escape(joined(one.path("filters"), " "))),
                Column.of("qos"),
                new Column("STATE", one -> one.path("online").asBoolean() ? "online" : "offline"),
                new Column("RECEIVE", one -> words(one.path("receive"))),
                Column.of("IN FLIGHT", "inFlight"),
                Column.of("queued"),
                new Column("OUTCOME", Explain::outcome));

        private static final List<Column> GROUPS = List.of(
                Column.of("SHARED GROUP", "name"),
                Column.of("filter"),
                Column.of("online"),
                new Column("MEMBERS", one -> LogText.escape(joined(one.path("members"), " "))));

        @Parameters(paramLabel = "TOPIC", description = "Is the topic name, without wildcards.")
        String topic = "";

        @Option(
                names = "--client",
                paramLabel = "ID",
                description =
                        "Is the client that would publish it. The default is the broker itself, which may publish "
                                + "everything.")
        @Nullable
        String client;

        Explain(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            Map<String, @Nullable Object> query = new LinkedHashMap<>();
            query.put("topic", topic);
            query.put("clientid", client);
            JsonNode answer = api.get(BrokerApi.query("/explain", query));
            if (out.isJson()) {
                out.object(answer);
                return;
            }
            out.line(LogText.escape(topic) + " by " + (client == null ? "the broker" : LogText.escape(client))
                    + ": publish " + words(answer.path("publish"))
                    + (answer.path("retained").asBoolean() ? ", the topic has a retained message" : ""));
            out.table(FILTERS, answer.path("filters"));
            out.table(RECEIVERS, answer.path("receivers"));
            out.table(GROUPS, answer.path("groups"));
            for (JsonNode node : answer.path("nodes")) {
                out.line("to node " + LogText.escape(node.asText()));
            }
            if (answer.path("moreReceivers").asLong() > 0) {
                out.line("and " + answer.path("moreReceivers").asText() + " more receivers");
            }
            if (answer.path("receivers").isEmpty()
                    && answer.path("groups").isEmpty()
                    && answer.path("nodes").isEmpty()) {
                out.line("no subscribers");
            }
            if (answer.path("truncated").asBoolean()) {
                out.line("left out, since the answer would be too long: " + answer.path("leftOut"));
            }
        }

        private static String outcome(JsonNode receiver) {
            JsonNode reason = receiver.path("reason");
            return words(receiver.path("outcome")) + (reason.isTextual() ? " (" + words(reason) + ")" : "");
        }

        private static String words(JsonNode constant) {
            return LogText.escape(constant.asText().toLowerCase(Locale.ROOT).replace('_', ' '));
        }

        private static String joined(JsonNode texts, String between) {
            List<String> all = new ArrayList<>();
            texts.forEach(text -> all.add(text.asText()));
            return String.join(between, all);
        }
    }
}
