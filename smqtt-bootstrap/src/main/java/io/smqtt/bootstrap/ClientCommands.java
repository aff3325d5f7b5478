// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import io.smqtt.message.LogText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl clients}: sessions, online and offline. */
final class ClientCommands {

    private ClientCommands() {}

    /** Where a client is found. */
    enum State {
        online,
        offline
    }

    /** How payloads are shown. */
    enum Payload {
        none,
        plain,
        base64
    }

    /** Lists sessions. */
    @Command(name = "list", description = "Lists the sessions of all nodes, online and offline.")
    static final class Sessions extends CtlRequest {

        static final List<Column> COLUMNS = List.of(
                Column.of("CLIENT", "clientid"),
                new Column("STATE", client -> client.path("connected").asBoolean() ? "online" : "offline"),
                Column.of("USER", "username"),
                new Column("ADDRESS", Sessions::address),
                new Column("VERSION", Sessions::version),
                Column.of("SUBSCRIPTIONS", "subscriptions_cnt"),
                Column.of("IN FLIGHT", "inflight_cnt"),
                Column.of("QUEUED", "mqueue_len"),
                Column.of("DROPPED", "mqueue_dropped"),
                Column.of("listener"),
                Column.of("node"));

        @Nullable
        @Option(
                names = "--match",
                paramLabel = "TEXT",
                description = "Shows only clients whose identifier contains this text.")
        String match;

        @Nullable
        @Option(names = "--username", paramLabel = "NAME", description = "Shows only clients of this user.")
        String userName;

        @Nullable
        @Option(
                names = "--address",
                paramLabel = "IP",
                description = "Shows only clients whose connection comes from this address.")
        String address;

        @Nullable
        @Option(names = "--state", paramLabel = "STATE", description = "Is one of ${COMPLETION-CANDIDATES}.")
        State state;

        @Nullable
        @Option(
                names = "--queued",
                paramLabel = "COUNT",
                description = "Shows only clients with at least this number of messages in their queue.")
        Integer queued;

        @Nullable
        @Option(
                names = "--dropped",
                paramLabel = "COUNT",
                description = "Shows only clients with at least this number of dropped messages.")
        Integer dropped;

        @Mixin
        NodeOption only = new NodeOption();

        @Mixin
        LimitOption shown = new LimitOption();

        Sessions(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            Map<String, @Nullable Object> filter = new LinkedHashMap<>();
            filter.put("like_clientid", match);
            filter.put("username", userName);
            filter.put("ip_address", address);
            filter.put("conn_state", state == null ? null : state == State.online ? "connected" : "disconnected");
            filter.put("gte_mqueue_len", queued);
            filter.put("gte_mqueue_dropped", dropped);
            only.addTo(filter);
            String path = BrokerApi.query("/clients", filter);
            out.list(api, new Listing(path, Paging.CURSOR, shown.limit), COLUMNS, "sessions");
        }

        private static String address(JsonNode client) {
            String ip = client.path("ip_address").asText();
            return ip.isEmpty()
                    ? "-"
                    : (ip.contains(":") ? "[" + ip + "]" : ip) + ":"
                            + client.path("port").asText();
        }

        private static String version(JsonNode client) {
            String name = switch (client.path("proto_ver").asInt()) {
                case 3 -> "3.1";
                case 4 -> "3.1.1";
                default -> client.path("proto_ver").asText();
            };
            return client.path("is_bridge").asBoolean() ? name + " bridge" : name;
        }
    }

    /** Shows one session. */
    @Command(name = "show", description = "Shows one session with its subscriptions.")
    static final class Show extends CtlRequest {

        @Parameters(paramLabel = "ID", description = "Is the client identifier.")
        String id = "";

        Show(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            JsonNode client = api.get(BrokerApi.path("/clients/{clientid}", id));
            JsonNode subscriptions = api.get(BrokerApi.path("/clients/{clientid}/subscriptions", id));
            if (out.isJson()) {
                ObjectNode all = client.deepCopy();
                out.object(all.set("subscriptions", subscriptions));
            } else {
                out.object(client);
                out.line("");
                out.table(Subscriptions.COLUMNS, subscriptions);
            }
        }
    }

    /** Ends sessions. */
    @Command(
            name = "kick",
            description =
                    "Ends the connections of clients (reason code 0x98) and their sessions. Clients connect again "
                            + "unless they are banned.")
    static final class Kick extends CtlRequest {

        @Option(names = "--keep-session", description = "Ends the connections only; the sessions end when they expire.")
        boolean keepSession;

        @Parameters(arity = "1..*", paramLabel = "ID", description = "Is a client identifier.")
        List<String> ids = new ArrayList<>();

        Kick(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            List<String> missing = new ArrayList<>();
            for (String id : ids) {
                try {
                    kick(api, id);
                    out.done("kicked " + LogText.escape(id));
                } catch (RefusedException e) {
                    if (e.status() != 404) {
                        throw e;
                    }
                    missing.add(LogText.escape(id));
                }
            }
            if (!missing.isEmpty()) {
                throw new RefusedException(404, "no such client: " + String.join(", ", missing));
            }
        }

        private void kick(BrokerApi api, String id) throws IOException {
            String path = BrokerApi.path("/clients/{clientid}", id);
            if (path.length() > BrokerApi.MAX_PATH_CHARS && !keepSession) { // a body has room for it
                api.send("POST", "/clients/kickout/bulk", BrokerApi.array().add(id));
            } else {
                api.send("DELETE", path + (keepSession ? "?keep_session=true" : ""), null);
            }
        }
    }

    /** Lists subscriptions of one client. */
    @Command(name = "subscriptions", description = "Lists the subscriptions of one client.")
    static final class Subscriptions extends CtlRequest {

        static final List<Column> COLUMNS = List.of(
                Column.of("FILTER", "topic"),
                Column.of("qos"),
                new Column("NO LOCAL", one -> yes(one.path("nl"))),
                new Column("RETAIN AS PUBLISHED", one -> yes(one.path("rap"))),
                Column.of("node"));

        @Parameters(paramLabel = "ID", description = "Is the client identifier.")
        String id = "";

        Subscriptions(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            String path = BrokerApi.path("/clients/{clientid}/subscriptions", id);
            out.list(api, new Listing(path, Paging.NONE, 0), COLUMNS, "subscriptions");
        }

        static String yes(JsonNode flag) {
            return flag.asInt() == 1 ? "yes" : "no";
        }
    }

    /** Subscribes. */
    @Command(name = "subscribe", description = "Adds a subscription for a client. Access rules do not apply.")
    static final class Subscribe extends CtlRequest {

        @Option(names = "--qos", paramLabel = "QOS", description = "Is the maximum QoS: 0, 1 or 2. The default is 0.")
        int qos;

        @Parameters(index = "0", paramLabel = "ID", description = "Is the client identifier.")
        String id = "";

        @Parameters(index = "1", paramLabel = "FILTER", description = "Is the topic filter.")
        String filter = "";

        Subscribe(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            JsonNode answer = api.send(
                    "POST",
                    BrokerApi.path("/clients/{clientid}/subscribe", id),
                    BrokerApi.object().put("topic", filter).put("qos", qos));
            out.done(answer, "subscribed " + LogText.escape(id) + " to " + LogText.escape(filter));
        }
    }

    /** Ends a subscription. */
    @Command(name = "unsubscribe", description = "Ends a subscription of a client.")
    static final class Unsubscribe extends CtlRequest {

        @Parameters(index = "0", paramLabel = "ID", description = "Is the client identifier.")
        String id = "";

        @Parameters(index = "1", paramLabel = "FILTER", description = "Is the topic filter.")
        String filter = "";

        Unsubscribe(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            api.send(
                    "POST",
                    BrokerApi.path("/clients/{clientid}/unsubscribe", id),
                    BrokerApi.object().put("topic", filter));
            out.done("unsubscribed " + LogText.escape(id) + " from " + LogText.escape(filter));
        }
    }

    /** Messages of a client. */
    private abstract static class Messages extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("topic"),
                Column.of("qos"),
                Column.of("PACKET", "packet_id"),
                Column.of("FROM", "from_clientid"),
                Column.of("PUBLISHED", "publish_at"),
                Column.of("BYTES", "payload_size"),
                Column.of("payload"));

        private final String path;

        @Option(
                names = "--limit",
                paramLabel = "COUNT",
                description = "Limits the number of messages, up to 1000. The default is 100.")
        int limit = 100;

        @Option(
                names = "--payload",
                paramLabel = "HOW",
                description = "Is one of ${COMPLETION-CANDIDATES}. The default is plain.")
        Payload payload = Payload.plain;

        @Parameters(paramLabel = "ID", description = "Is the client identifier.")
        String id = "";

        Messages(ProgramContext program, String path) {
            super(program);
            this.path = path;
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            String asked = BrokerApi.query(BrokerApi.path(path, id), Map.of("limit", limit, "payload", payload));
            out.list(api, new Listing(asked, Paging.NONE, 0), COLUMNS, "messages");
        }
    }

    /** Lists queued messages. */
    @Command(
            name = "queue",
            description =
                    "Lists the oldest messages in the queue of a client. Of a stored queue it lists those that are in "
                            + "memory.")
    static final class Queue extends Messages {

        Queue(ProgramContext program) {
            super(program, "/clients/{clientid}/mqueue_messages");
        }
    }

    /** Lists messages in flight. */
    @Command(name = "inflight", description = "Lists the oldest messages that a client has not acknowledged.")
    static final class InFlight extends Messages {

        InFlight(ProgramContext program) {
            super(program, "/clients/{clientid}/inflight_messages");
        }
    }
}
