// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.smqtt.admin.AdminModule;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The {@code ctl} commands against a port that only records what it is asked: each route of the API has one. */
class CtlTest {

    /** A call of each command. */
    private static final List<String> CALLS = List.of(
            "status",
            "whoami",
            "nodes",
            "nodes n1",
            "stats",
            "stats n1",
            "metrics",
            "metrics n1",
            "cluster",
            "cluster replace c d",
            "clients list --match x --state offline --queued 5 --limit 10",
            "clients show c",
            "clients kick c",
            "clients kick LONG",
            "clients subscriptions c",
            "clients subscribe c a/#",
            "clients unsubscribe c a/#",
            "clients queue c",
            "clients inflight c",
            "bans list --match x",
            "bans add clientid c --for 30m --reason floods",
            "bans delete clientid c",
            "bans delete --all",
            "subscriptions --match a/b",
            "groups",
            "topics",
            "topics a/#",
            "explain a/b --client c",
            "publish a/b -m hello --user-property k=v --user-property k=w",
            "retained list a/#",
            "retained show a/b",
            "retained delete a/b",
            "retained delete a/#",
            "delayed list",
            "delayed show smqtt 0123456789abcdef",
            "delayed delete smqtt 0123456789abcdef",
            "delayed settings",
            "delayed set --max-messages 5",
            "topic-rewrites list",
            "topic-rewrites add old/# ^old/(.+)$ new/$1 --action publish",
            "topic-rewrites delete 1",
            "auto-subscriptions list",
            "auto-subscriptions add c/${clientid} --qos 1",
            "auto-subscriptions delete 1",
            "retained-policies list",
            "retained-policies add a/# --max-payload 1024",
            "retained-policies delete 1",
            "validations list",
            "validations add v a/# --schema a",
            "validations delete 1",
            "topic-metrics list",
            "topic-metrics show a/b",
            "topic-metrics add a/#",
            "topic-metrics reset",
            "topic-metrics reset a/#",
            "topic-metrics delete a/#",
            "schemas list",
            "schemas show a",
            "schemas add a objects.json",
            "schemas replace a objects.json",
            "schemas delete a",
            "listeners list",
            "listeners show tcp:tcp",
            "listeners start tcp:tcp",
            "listeners stop tcp:tcp",
            "listeners restart tcp:tcp",
            "bridges list",
            "bridges show cloud",
            "bridges start cloud",
            "bridges stop cloud",
            "bridges restart cloud",
            "bridges start cloud --node n1",
            "bridges stop cloud --node n1",
            "bridges restart cloud --node n1",
            "rules list",
            "rules show alarms",
            "rules types",
            "rules types republish",
            "rules add hot sql=x actions.out.type=republish",
            "rules change hot sql=y",
            "rules start hot",
            "rules stop hot",
            "rules probe hot out",
            "rules delete hot",
            "sources list",
            "sources show orders",
            "sources start orders",
            "sources stop orders",
            "sources restart orders",
            "sources start orders --node n1",
            "sources stop orders --node n1",
            "sources restart orders --node n1",
            "sources probe orders",
            "sources types",
            "sources types http",
            "sources add orders type=http topic=orders/x",
            "sources add orders type=http topic=orders/x --probe",
            "sources change orders topic=orders/y",
            "sources enable orders",
            "sources disable orders",
            "sources delete orders",
            "users list",
            "users add anna",
            "users change anna --role viewer",
            "users delete anna",
            "users password anna",
            "users password anna --user anna",
            "keys list",
            "keys show k",
            "keys add k",
            "keys change k --enabled false",
            "keys delete k",
            "trace list",
            "trace start t --client c --for 1h",
            "trace show t",
            "trace follow t",
            "trace stop t",
            "trace download t",
            "trace delete t",
            "trace delete --all",
            "log list --node n1",
            "log level io.smqtt DEBUG --for 5m",
            "log level io.smqtt",
            "access forget --node n1",
            "alarms",
            "audit --failed",
            "config limits",
            "reload",
            "export",
            "import objects.json");

    private static final Map<String, String> WITHOUT_A_COMMAND = Map.ofEntries(
            Map.entry("POST /clients/{clientid}/subscribe/bulk", "subscribe takes one filter"),
            Map.entry("POST /clients/{clientid}/unsubscribe/bulk", "unsubscribe takes one filter"),
            Map.entry("POST /publish/bulk", "bench publishes many messages"),
            Map.entry("GET /monitor", "the history is for graphs; top shows the present"),
            Map.entry("GET /monitor/nodes/{node}", "the same"),
            Map.entry("GET /monitor_current", "top shows these figures"),
            Map.entry("GET /monitor_current/nodes/{node}", "the same"),
            Map.entry("GET /prometheus/stats", "for Prometheus; the same as /metrics of the port"),
            Map.entry("GET /stream", "for the dashboard"),
            Map.entry("GET /openapi.yaml", "a file for programs; curl reads it"),
            Map.entry("GET /trace/{name}/stream", "for the dashboard; follow reads the log"),
            Map.entry("GET /trace/{name}/log_detail", "show has the sizes"),
            Map.entry("GET /rules/{id}/metrics", "list and show have them"),
            Map.entry("POST /actions_probe", "for forms of the dashboard; probe checks an action that is there"),
            Map.entry("POST /rule_test", "rule test evaluates a statement without a broker"));

    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final List<String> asked = new ArrayList<>();
    private final Map<String, String> answers = new HashMap<>();
    private final Map<String, String> environment = new HashMap<>();
    private String input = "";
    private int status = 200;
    private HttpServer server;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        Files.writeString(directory.resolve("token"), "a-token\n");
        Files.writeString(directory.resolve("objects.json"), "{}\n");
    }

    @AfterEach
    void end() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getRawPath().replaceFirst("^/api/v5", "");
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        String query = exchange.getRequestURI().getRawQuery();
        asked.add(exchange.getRequestMethod() + " " + path + (query == null ? "" : "?" + query)
                + (body.isEmpty() ? "" : " " + body));
        String key = answers.containsKey(path + "?" + query) ? path + "?" + query : path;
        byte[] bytes = answers.getOrDefault(key, "{}").getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private int ctl(String line) {
        List<String> arguments = new ArrayList<>(List.of("ctl"));
        for (String word : line.split(" ")) {
            arguments.add(word.equals("LONG") ? "x".repeat(17_000) : word);
        }
        arguments.add("--url=http://127.0.0.1:" + server.getAddress().getPort());
        arguments.add("--token-file=token");
        return SmqttMain.run(program(), arguments.toArray(String[]::new));
    }

    private String output() {
        String text = out.toString(StandardCharsets.UTF_8);
        out.reset();
        return text;
    }

    @Test
    void eachRouteHasACommandOrAReasonToHaveNone() throws IOException {
        input = "a-password-1\na-password-2\n";
        for (String call : CALLS) {
            err.reset();
            ctl(call);
            assertThat(err.toString(StandardCharsets.UTF_8)).as(call).doesNotContain("unexpected");
        }
        Map<Pattern, String> patterns = new HashMap<>();
        for (String route : routes()) {
            patterns.put(
                    Pattern.compile(route.replace("/", "\\/").replaceAll("\\{[a-z]+}", "[^/? ]+") + "([? ].*)?"),
                    route);
        }
        Set<String> covered = new TreeSet<>();
        for (String request : asked) {
            List<String> found = patterns.entrySet().stream()
                    .filter(entry -> entry.getKey().matcher(request).matches())
                    .map(Map.Entry::getValue)
                    .toList();
            assertThat(found).as(request).isNotEmpty();
            // The narrowest: /clients/kickout/bulk is none of /clients/{clientid}/...
            covered.add(found.stream()
                    .min((a, b) -> Long.compare(braces(a), braces(b)))
                    .orElseThrow());
        }
        Set<String> expected = new TreeSet<>(routes());
        expected.removeAll(WITHOUT_A_COMMAND.keySet());

        assertThat(routes()).containsAll(WITHOUT_A_COMMAND.keySet());
        assertThat(covered).isEqualTo(expected);
    }

    private static long braces(String route) {
        return route.chars().filter(c -> c == '{').count();
    }

    /** The routes of the description of the API. */
    private static Set<String> routes() throws IOException {
        Set<String> routes = new TreeSet<>();
        try (InputStream file = AdminModule.class.getResourceAsStream("broker/openapi.yaml")) {
            JsonNode paths = new YAMLMapper().readTree(file).path("paths");
            paths.fields()
                    .forEachRemaining(path -> path.getValue().fieldNames().forEachRemaining(method -> {
                        if (Set.of("get", "post", "put", "delete").contains(method)) {
                            routes.add(method.toUpperCase(java.util.Locale.ROOT) + " " + path.getKey());
                        }
                    }));
        }
        return routes;
    }

    @Test
    void eachCommandIsCalledAbove() {
        Set<String> leaves = new HashSet<>();
        collect(SmqttMain.commandLine(program()).getSubcommands().get("ctl"), "", leaves);

        assertThat(leaves).allSatisfy(leaf -> assertThat(CALLS).anyMatch(call -> (call + " ").startsWith(leaf + " ")));
        assertThat(leaves).hasSizeGreaterThan(30);
    }

    private static void collect(CommandLine command, String path, Set<String> leaves) {
        command.getSubcommands().forEach((name, sub) -> {
            if (sub.getCommandSpec().helpCommand()) {
                return;
            }
            if (sub.getSubcommands().isEmpty()) {
                leaves.add((path + " " + name).strip());
            } else {
                collect(sub, path + " " + name, leaves);
            }
        });
    }

    @Test
    void aListIsReadToItsEndByCursor() {
        answers.put("/clients?cursor=&limit=1000", """
                {"data":[{"clientid":"a","connected":true,"ip_address":"::1","port":9,"proto_ver":4,"is_bridge":true}],\
                "meta":{"hasnext":true,"cursor":"next"}}""");
        answers.put("/clients?cursor=next&limit=1000", """
                {"data":[{"clientid":"b\\u0007","connected":false,"ip_address":"10.0.0.1","port":8,"proto_ver":5}],\
                "meta":{"hasnext":false},"incomplete":["n2"]}""");

        assertThat(ctl("clients list")).isEqualTo(ExitCode.UNEXPECTED);
        assertThat(output().lines().map(line -> line.replaceAll(" +", " ")))
                .containsExactly(
                        "CLIENT STATE USER ADDRESS VERSION SUBSCRIPTIONS IN FLIGHT QUEUED DROPPED LISTENER NODE",
                        "a online - [::1]:9 3.1.1 bridge - - - - - -",
                        "b\\u0007 offline - 10.0.0.1:8 5 - - - - - -",
                        "sessions: 2");
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("these nodes did not answer", "n2");

        ctl("clients list --json");
        assertThat(output().lines()).hasSize(2).allMatch(line -> line.startsWith("{\"clientid\":"));
        ctl("clients list --limit 1");
        assertThat(output()).endsWith("sessions: 1, more exist\n");
    }

    @Test
    void aRuleIsAddedToTheListAndDeletedByItsNumber() {
        String fixed = "{\"topic\":\"f\",\"qos\":0,\"nl\":0,\"rap\":0,\"rh\":0,\"name\":\"all\",\"read_only\":true}";
        String live = "{\"topic\":\"c/${clientid}\",\"qos\":1,\"nl\":0,\"rap\":0,\"rh\":0}";
        answers.put("/mqtt/auto_subscribe", "[" + fixed + "," + live + "]");

        ctl("auto-subscriptions list");
        assertThat(output().lines().map(line -> line.replaceAll(" +", " ")))
                .containsExactly("NUMBER TOPIC QOS NL RAP RH FILE", "1 f 0 0 0 0 all", "2 c/${clientid} 1 0 0 0 -");
        ctl("auto-subscriptions add d --no-local");
        assertThat(output()).isEqualTo("added as number 2\n");
        assertThat(asked)
                .last()
                .isEqualTo("PUT /mqtt/auto_subscribe [" + fixed + "," + live
                        + ",{\"topic\":\"d\",\"qos\":0,\"nl\":1,\"rap\":0,\"rh\":0}]");
        ctl("auto-subscriptions delete 2");
        assertThat(output()).isEqualTo("deleted number 2\n");
        assertThat(asked).last().isEqualTo("PUT /mqtt/auto_subscribe [" + fixed + "]");
        int before = asked.size();
        assertThat(ctl("auto-subscriptions delete 1")).isEqualTo(ExitCode.UNEXPECTED);
        assertThat(ctl("auto-subscriptions delete 3")).isEqualTo(ExitCode.UNEXPECTED);
        assertThat(asked.subList(before, asked.size())).allMatch(request -> request.startsWith("GET "));
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("number 1 is in the configuration file", "there is no number 3");
    }

    @Test
    void rulesForRetainedMessagesAndChecksOfPayloadsAreAddedAsTheApiHasThem() {
        answers.put("/mqtt/retainer/policies", "[]");
        ctl("retained-policies add a/# --max-payload 1024 --expiry 60");
        assertThat(asked)
                .last()
                .isEqualTo(
                        "PUT /mqtt/retainer/policies [{\"topic\":\"a/#\",\"msg_expiry_interval\":60,\"max_payload_size\":1024}]");

        answers.put("/schema_validations", "[]");
        ctl("validations add v a/# b --schema s --schema t --any --on-failure disconnect --redirect wrong");
        assertThat(asked)
                .last()
                .isEqualTo(
                        "PUT /schema_validations [{\"name\":\"v\",\"topics\":[\"a/#\",\"b\"],\"checks\":[{\"type\":\"json\",\"schema\":\"s\"},"
                                + "{\"type\":\"json\",\"schema\":\"t\"}],\"strategy\":\"any_pass\",\"failure_action\":\"disconnect\",\"redirect_topic\":\"wrong\"}]");

        String fixed =
                "{\"name\":\"f\",\"topics\":[\"a/#\",\"b\"],\"checks\":[{\"type\":\"json\",\"schema\":\"s\"},{\"type\":\"sql\",\"sql\":\"X\"}],"
                        + "\"strategy\":\"all_pass\",\"failure_action\":\"drop\",\"redirect_topic\":\"\"";
        answers.put(
                "/schema_validations", "[" + fixed + ",\"read_only\":true}," + fixed.replace("\"f\"", "\"g\"") + "}]");
        assertThat(output()).isEqualTo("added as number 0\n".repeat(2));
        ctl("validations list");
        assertThat(output().lines().map(line -> line.replaceAll(" +", " ")))
                .containsExactly(
                        "NUMBER NAME TOPICS CHECKS STRATEGY ON FAILURE REDIRECT FILE",
                        "1 f a/# b s sql all_pass drop - f",
                        "2 g a/# b s sql all_pass drop - -");
    }

    @Test
    void aRuleIsListedWithTheReasonOfTheNodeThatHasOne() {
        answers.put(
                "/rules",
                "{\"data\":[{\"id\":\"hot\",\"name\":\"hot\",\"enable\":true,\"source\":\"api\",\"metrics\":{\"matched\":7,\"passed\":5,"
                        + "\"failed\":2},\"actions\":[{\"name\":\"a\",\"status\":\"connected\",\"metrics\":{\"success\":3,\"queued\":1}},"
                        + "{\"name\":\"b\",\"status\":\"inconsistent\",\"metrics\":{\"success\":4,\"dead\":1,\"waiting\":2},\"node_status\":["
                        + "{\"node\":\"n1\",\"status\":\"connected\"},"
                        + "{\"node\":\"n2\",\"status\":\"disconnected\",\"status_reason\":\"no jar\"}]}]},"
                        + "{\"name\":\"off\",\"enable\":false,\"source\":\"api\",\"actions\":[]}]}");

        ctl("rules list");

        assertThat(output().lines().map(line -> line.replaceAll(" +", " ").strip()))
                .containsExactly(
                        "NAME FROM STATUS MATCHED PASSED FAILED SUCCESS DEAD QUEUED REASON",
                        "hot api inconsistent 7 5 2 7 1 3 b on n2: no jar",
                        "off api disabled - - - 0 0 0",
                        "rules: 2");
    }

    @Test
    void aSourceIsChangedKeyByKey() {
        answers.put(
                "/sources/orders",
                "{\"id\":\"orders\",\"type\":\"redis\",\"enable\":true,\"source\":\"api\",\"status\":\"running\","
                        + "\"settings\":{\"topic\":\"a\",\"qos\":\"2\",\"url\":\"redis://h:1\"}}");

        ctl("sources change orders topic=b=c qos= group=g");
        assertThat(asked)
                .last()
                .isEqualTo("PUT /sources/orders {\"type\":\"redis\",\"enable\":true,\"topic\":\"b=c\","
                        + "\"url\":\"redis://h:1\",\"group\":\"g\"}");
        assertThat(output()).isEqualTo("changed orders\n");
        ctl("sources add new type=http topic=t/${path}");
        assertThat(asked).last().isEqualTo("POST /sources {\"type\":\"http\",\"topic\":\"t/${path}\",\"id\":\"new\"}");
        ctl("sources disable orders");
        assertThat(output()).isEqualTo("added new\ndisabled orders\n");
    }

    @Test
    void aRuleIsChangedKeyByKey() {
        answers.put(
                "/rules/hot",
                "{\"id\":\"hot\",\"description\":\"d\",\"sql\":\"SELECT 1\",\"enable\":false,\"source\":\"api\",\"actions\":["
                        + "{\"name\":\"a\",\"type\":\"http\",\"status\":\"connected\",\"settings\":{\"url\":\"http://h\",\"lanes\":\"2\"}},"
                        + "{\"name\":\"b\",\"type\":\"console\",\"settings\":{}}]}");

        ctl(
                "rules change hot sql=SELECT=2 description= actions.a.lanes= actions.a.headers.x=1 actions.b= actions.c.type=console");
        assertThat(asked)
                .last()
                .isEqualTo("PUT /rules/hot {\"sql\":\"SELECT=2\",\"enable\":false,\"actions\":["
                        + "{\"name\":\"a\",\"type\":\"http\",\"url\":\"http://h\",\"headers.x\":\"1\"},"
                        + "{\"name\":\"c\",\"type\":\"console\"}]}");
        ctl("rules add new sql=s actions.out.type=republish actions.out.topic=t/${clientid}");
        assertThat(asked)
                .last()
                .isEqualTo("POST /rules {\"sql\":\"s\",\"actions\":[{\"name\":\"out\",\"type\":\"republish\","
                        + "\"topic\":\"t/${clientid}\"}],\"id\":\"new\"}");
        ctl("rules stop hot");
        assertThat(output()).isEqualTo("changed hot\nadded new\nstopped hot\n");
    }

    @Test
    void aKeyOfNoActionIsRefused() {
        answers.put("/rules/hot", "{\"id\":\"hot\",\"sql\":\"s\",\"enable\":true,\"actions\":[]}");

        int requests = asked.size();
        ctl("rules change hot actions.gone=");
        assertThat(asked.subList(requests, asked.size())).noneMatch(request -> request.startsWith("PUT"));
    }

    @Test
    void theKeysOfATypeOfSourcesAreATable() {
        answers.put(
                "/source_types/x",
                "{\"name\":\"x\",\"keys\":[{\"name\":\"url\",\"type\":\"text\",\"required\":true,\"description\":\"the server\"}],"
                        + "\"common_keys\":[{\"name\":\"qos\",\"type\":\"number\",\"default\":\"1\",\"required\":false,"
                        + "\"description\":\"the QoS\"}]}");

        ctl("sources types x");
        assertThat(output().lines().map(line -> line.replaceAll(" +", " ")))
                .containsExactly(
                        "NAME TYPE DEFAULT DESCRIPTION", "qos number 1 the QoS", "url text required the server");
    }

    @Test
    void aTableIsAsWideAsTheTerminal() {
        String topic = "a".repeat(100);
        answers.put(
                "/topics", "{\"data\":[{\"topic\":\"" + topic + "\",\"node\":\"n1\"}],\"meta\":{\"hasnext\":false}}");
        environment.put("COLUMNS", "60");

        ctl("topics");
        assertThat(output().lines())
                .contains("a".repeat(26) + ".." + "a".repeat(26) + "  n1")
                .allMatch(line -> line.length() <= 60);
        environment.put("COLUMNS", "40");
        answers.put(
                "/clients",
                "{\"data\":[{\"clientid\":\"plant-\ud83c\udf31-sensor-in-the-yard-17\"}],\"meta\":{\"hasnext\":false}}");
        ctl("clients list");
        assertThat(output().lines())
                .anyMatch(line -> line.startsWith("plant-\ud83c\udf31-..e-yard-17  offline  -"))
                .allMatch(line -> line.length() <= 40);
        environment.clear();
        ctl("topics");
        assertThat(output()).contains(topic + "  n1");
    }

    @Test
    void aClusterIsATable() {
        answers.put("/cluster", """
                {"name":"smqtt","self":"n1","nodes":["n1","n2"],"status":{"state":"joined","ready":true,"min-members":2,
                "self":{"node-id":"n1","role":"front","address":"10.0.0.1:7800","version":"0.1.0","weight":1,"routes":7},
                "peers":[{"node-id":"n2","role":"full","address":"10.0.0.2:7800","version":"0.1.0","weight":2,"routes":100,"reachable":false,
                "route-lag":3,"heard-ms":400,"queued-messages":5,"parked-messages":0,"dropped-messages":{"a":1,"b":2}}],
                "traffic":{"pulls":2,"repairs":0,"malformed-frames":1,"refused-connections":{"tls":6,"frame":7}},
                "wills":{"own":20000,"held":11,"held-bytes":4711,"refused":7},
                "retained":{"refused":3,"comparing":2,"compared":40,"cleared":8,"cleared-bytes":2100,"forgotten":4},
                "relay":{"connections":40,"waiting":2,"opened":90,"refused":{"no_node":3,"busy":1}}}}""");

        ctl("cluster");
        assertThat(output().lines().map(line -> line.replaceAll(" +", " ")))
                .startsWith(
                        "NODE STATE ROLE VERSION ADDRESS WEIGHT ROUTES LAG QUEUED PARKED DROPPED HEARD",
                        "n1 joined (this) front 0.1.0 10.0.0.1:7800 1 7 - - - - -",
                        "n2 gone full 0.1.0 10.0.0.2:7800 2 100 3 5 0 3 0.4 s ago")
                .contains(
                        "ready: yes, 0 of 1 nodes together, 2 wanted; 1 of 1 front nodes",
                        "routes: 2 pulls, 0 repairs; malformed frames: 1; refused connections: 13",
                        "wills: 20000 of this node, 7 refused; kept for other nodes: 11, 4711 bytes",
                        "retained: 3 refused, 2 parts to compare, 40 compared; removed: 8 topics, 2100 bytes, 4 "
                                + "forgotten early",
                        "relayed: 40 connections, 2 waiting, 90 since the start; refused: 4");
    }

    @Test
    void aPlaceThatAnotherNodeHoldsIsNamed() {
        answers.put("/cluster", """
                {"name":"smqtt","self":"a","nodes":["a","d"],"status":{"state":"joined","ready":true,"self":{"node-id":"a"},"peers":[]},
                "replicas":[{"home":"c","members":["a","b","d"],"connected":["a","b","d"],"leader":"d","server":"d","term":2,
                "committed-entry":7,"behind":{},"failure":null}],"places":{"c":"d"}}""");

        ctl("cluster");
        assertThat(output().lines().map(line -> line.replaceAll(" +", " ")))
                .endsWith(
                        "STORE OF LEADER SERVED BY TERM REPLICAS ON CONNECTED ENTRY BEHIND",
                        "d (place c) d d 2 a b d a b d 7 -");
    }

    @Test
    void replicasAreATableBelowTheCluster() {
        answers.put("/cluster", """
                {"name":"smqtt","self":"a","nodes":["a","b"],"status":{"state":"joined","ready":true,"self":{"node-id":"a"},"peers":[]},
                "replicas":[
                {"home":"a","members":["a","b","c"],"connected":["a","b"],"leader":"a","server":"a","term":3,"committed-entry":120,"behind":{"b":{"entries":4,"bytes":1800},"c":{"entries":0,"bytes":0}},"failure":null},
                {"home":"c","members":["a","b","c"],"connected":["a","b"],"leader":null,"server":"b","term":2,"committed-entry":7,"behind":{},"failure":null},
                {"home":"b","members":["a","b","c"],"connected":["a","b"],"leader":"b","term":2,"committed-entry":9,"behind":{},"failure":"disk full"}]}""");

        ctl("cluster");
        assertThat(output().lines().map(line -> line.replaceAll(" +", " ")))
                .endsWith(
                        "",
                        "STORE OF LEADER SERVED BY TERM REPLICAS ON CONNECTED ENTRY BEHIND",
                        "a a a 3 a b c a b 120 b 4 (1800 bytes), c 0",
                        "c none b 2 a b c a b 7 -",
                        "b failed: disk full - 2 a b c a b 9 -");
    }

    @Test
    void aChangeOnSeveralNodesNamesThemAndThoseThatDidNotAnswer() {
        answers.put("/loggers/io.smqtt", "{\"nodes\":[\"n1\",\"n2\"]}");
        assertThat(ctl("log level io.smqtt inherited")).isEqualTo(ExitCode.OK);
        assertThat(asked).containsExactly("POST /loggers/io.smqtt {\"configuredLevel\":null}");
        assertThat(output()).isEqualTo("set io.smqtt to inherited on n1, n2\n");

        answers.put("/loggers/io.smqtt?node=n1", "{\"nodes\":[],\"incomplete\":[\"n1\"]}");
        assertThat(ctl("log level io.smqtt DEBUG --node n1")).isEqualTo(ExitCode.UNEXPECTED);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("these nodes did not answer", "n1");

        answers.put(
                "/authentication/cache",
                "{\"data\":[{\"node\":\"n1\",\"cleared\":12},{\"node\":\"n2\",\"cleared\":0}],\"incomplete\":[\"n3\"]}");
        output();
        assertThat(ctl("access forget")).isEqualTo(ExitCode.UNEXPECTED);
        assertThat(output()).isEqualTo("forgot 12 answers on n1\nforgot 0 answers on n2\n");
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("they may use former answers again: n3");
    }

    @Test
    void secretsAreLinesOfTheInputAndALoginIsEnded() {
        input = "old-password\nnew-password\n";
        answers.put("/login", "{\"token\":\"t\",\"must_change_password\":true}");

        assertThat(ctl("users password admin --user admin")).isEqualTo(ExitCode.OK);
        assertThat(asked)
                .containsExactly(
                        "POST /login {\"username\":\"admin\",\"password\":\"old-password\"}",
                        "POST /users/admin/change_pwd {\"old_pwd\":\"old-password\",\"new_pwd\":\"new-password\"}",
                        "POST /logout");
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("password of the first start");
    }

    @Test
    void aRefusalIsToldInItsWordsAndStopsTheCommand() {
        status = 403;
        answers.put("/users", "{\"code\":\"UNAUTHORIZED_ROLE\",\"message\":\"the role does not allow it\"}");
        assertThat(ctl("users list --json")).isEqualTo(ExitCode.UNEXPECTED);
        assertThat(output()).isEmpty();
        assertThat(err.toString(StandardCharsets.UTF_8))
                .endsWith(" says: the role does not allow it (UNAUTHORIZED_ROLE)\n");

        status = 404;
        answers.put("/nodes", "no such path\n");
        assertThat(ctl("nodes")).isEqualTo(ExitCode.UNEXPECTED);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("it has no /api/v5");

        status = 200;
        answers.put("/nodes", "<html>");
        assertThat(ctl("nodes")).isEqualTo(ExitCode.NO_ANSWER);
    }

    private ProgramContext program() {
        return new ProgramContext(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                environment,
                directory,
                (config, legacy, beforehand) -> {
                    throw new AssertionError("was started");
                },
                new NoSignals(),
                System::nanoTime,
                Set.of("smqtt-persistence", "smqtt-cluster"));
    }
}
