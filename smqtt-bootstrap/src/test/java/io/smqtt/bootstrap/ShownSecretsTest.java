// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.config.BrokerConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

/** A secret in every place of every kind of file, in variables and flags: no command shows it. */
class ShownSecretsTest {

    /** What is looked for; as long as a cluster's secret has to be. */
    private static final String SECRET = "Canary7f3eNeverShown";

    @TempDir
    Path directory;

    private final Map<String, String> environment = new HashMap<>();

    static Stream<Arguments> files() {
        Map<String, String> files = new LinkedHashMap<>();
        String json = """
                {
                  "smqtt": {
                    "logLevel": "INFO",
                    "tcp": {"port": 1883, "username": "anna", "password": "SECRET"},
                    "http": {"enable": true, "admin": {"enable": true, "username": "smqtt", "password":"SECRET"}},
                    "redis": {"url": "redis://anna:SECRET@127.0.0.1:6379", "password":"SECRET"},
                    "db": {"url": "jdbc:mysql://127.0.0.1/db?user=a&password=SECRET"}
                  }
                }
                """;
        files.put("smqtt.json", json);
        files.put("former", json);
        files.put("former.conf", json);
        files.put("tabs.json", json.replace("  ", "\t"));
        files.put("one-line.txt", json.replace("\n", "").replace(" ", ""));
        files.put("broken.json", json.substring(0, json.lastIndexOf('}')));
        files.put("broken-quote.json", json.replace("\"INFO\",", "\"INFO"));
        files.put("foreign.json", "{\"users\": [{\"name\": \"anna\", \"password\": \"SECRET\"}]}");
        files.put("list.json", "[\"SECRET\", \"SECRET\"]");
        String yaml = """
                smqtt:
                  logLevel: INFO
                  tcp:
                    port: 1883
                    username: anna
                    password: SECRET
                  redis:
                    password: SECRET
                  somethingElse:
                    token: SECRET
                """;
        files.put("former.yaml", yaml);
        files.put("former.yml.txt", yaml);
        files.put("former-yaml.conf", yaml);
        files.put("glued.yaml", yaml.replace("password: ", "password:"));
        files.put("equals.yaml", yaml.replace("password: ", "password="));
        files.put("tab.yaml", yaml.replace("    password", "\tpassword"));
        files.put("tag.yaml", yaml.replace("password: SECRET", "password: !SECRET!x y"));
        files.put("alias.yaml", yaml.replace("password: SECRET", "password: *SECRET"));
        files.put("anchor.yaml", yaml.replace("password: SECRET", "password: &SECRET x"));
        files.put("percent.yaml", yaml.replace("password: SECRET", "password: %SECRET"));
        files.put("quote.yaml", yaml.replace("password: SECRET", "password: \"SECRET"));
        files.put("escape.yaml", yaml.replace("password: SECRET", "password: \"\\qSECRET\""));
        files.put("colon.yaml", yaml.replace("password: SECRET", "password: SECRET: SECRET"));
        files.put("indent.yaml", yaml.replace("password: SECRET", "password: a\n     SECRET: b"));
        files.put("block.yaml", yaml.replace("password: SECRET", "password: |\nSECRET"));
        files.put("flow.yaml", "smqtt: {tcp: {password:SECRET}}\n");
        files.put("directive.yaml", "%SECRET\n" + yaml);
        files.put("list.yaml", "smqtt:\n  users:\n    - SECRET\n    - {name: anna, password: SECRET}\n");
        files.put("twice.yaml", yaml + "  tcp:\n    password: SECRET\n");
        String properties = """
                smqtt.logLevel=INFO
                smqtt.tcp.port=1883
                smqtt.tcp.username=anna
                smqtt.tcp.password=SECRET
                smqtt.redis.password:SECRET
                smqtt.unknown.token SECRET
                """;
        files.put("former.properties", properties);
        files.put("former-properties.conf", properties);
        files.put("former-properties", properties);
        files.put("line.properties", properties + "SECRET\n");
        files.put("lines.properties", properties + "SECRET\nSECRET\n");
        files.put("bare.yaml", yaml + "  SECRET:\nSECRET:\n");
        files.put("unicode.properties", properties.replace("token SECRET", "token=\\uSECRET"));
        files.put("twice.properties", properties + "smqtt.tcp.password=SECRET\n");
        String mosquitto = """
                listener 1883
                allow_anonymous false
                connection bridge
                address 10.0.0.1:1883
                remote_username anna
                remote_password SECRET
                bridge_psk SECRET
                auth_opt_pg_password SECRET
                plugin_opt_secret SECRET
                unheard_of SECRET
                """;
        files.put("mosquitto.conf", mosquitto);
        files.put("mosquitto", mosquitto);
        files.put("mosquitto-glued.conf", mosquitto + "remote_password=SECRET\nauth_opt_password:SECRET\n");
        files.put("mosquitto-line.conf", mosquitto + "SECRET\nremote_password\nSECRET\n");
        files.put("mosquitto-value.conf", mosquitto.replace("listener 1883", "listener SECRET") + "max_qos SECRET\n");
        files.put("mosquitto-quotes.conf", mosquitto + "\"remote_password\":\"SECRET\",\n");
        files.put("moquette.conf", """
                port 1883
                host 0.0.0.0
                netty.mqtt.message_size 8092
                jks_path serverkeystore.jks
                key_store_password SECRET
                key_manager_password SECRET
                unheard_password SECRET
                """);
        files.put("moquette-glued.conf", "netty.mqtt.message_size 8092\nkey_store_password=SECRET\nSECRET\n");
        files.put("emqx.conf", """
                node {
                  name = "emqx@127.0.0.1"
                  cookie = "SECRET"
                }
                authentication = [{password = SECRET}]
                """);
        files.put("emqx-4.conf", "node.cookie = SECRET\nauth.mysql.password=SECRET\nSECRET\n");
        files.put("hivemq.xml", "<hivemq>\n  <tls><keystore-password>SECRET</keystore-password></tls>\n</hivemq>\n");
        files.put("hivemq.conf", "<hivemq>\n<password>SECRET</password>\n</hivemq>\n");
        files.put("key.pem", "-----BEGIN PRIVATE KEY-----\nSECRET\nSECRET\n-----END PRIVATE KEY-----\n");
        files.put("token", "SECRET\n");
        files.put("passwords", "anna:SECRET\nSECRET\nbert:$SECRET$x\nkarl:$7$SECRET$a$b\n");
        files.put("dotenv.env", "export SMQTT_SECRET=SECRET\nPASSWORD='SECRET'\n");
        files.put("ini.cfg", "[redis]\npassword = SECRET\nSECRET\n");
        files.put("binary", "\0\1SECRET\0");
        String ours = """
                cluster:
                  secret: SECRET
                management:
                  influx:
                    url: http://127.0.0.1:8086
                    org: a
                    bucket: b
                    token: SECRET
                  otlp:
                    url: http://127.0.0.1:4318/v1/metrics?api-key=SECRET
                    headers: "authorization: SECRET"
                """;
        files.put("ours.yaml", ours);
        files.put("ours-wrong.yaml", ours + "listeners:\n  tcp:\n    port: x\n");
        files.put("ours-misspelt.yaml", ours.replace("secret:", "secrett:").replace("token:", "tokn:"));
        files.put("ours-glued.yaml", ours.replace("  secret: SECRET", "  {secret:SECRET}"));
        files.put("ours-equals.yaml", ours.replace("  secret: SECRET", "  secret=SECRET"));
        files.put("ours-list.yaml", ours.replace("secret: SECRET", "secret: [SECRET, [SECRET], \"SECRET,SECRET\"]"));
        files.put("ours-block.yaml", ours.replace("secret: SECRET", "secret:\n    SECRET: SECRET"));
        files.put("ours-user.yaml", ours.replace("http://127", "http://anna:SECRET@127"));
        files.put("ours-header.yaml", ours.replace("\"authorization: SECRET\"", "SECRET"));
        files.put(
                "ours-key.yaml",
                "listeners:\n  tcp:\n    tls:\n      certificate: c.pem\n      key: |\n        "
                        + "-----BEGIN PRIVATE KEY-----\n        SECRET\n        -----END PRIVATE KEY-----\n");
        files.put(
                "ours-elsewhere.yaml",
                "access:\n  password: SECRET\npassword: SECRET\nusers:\n  anna: {password: SECRET}\n");
        return files.entrySet().stream()
                .map(entry -> Arguments.of(entry.getKey(), entry.getValue().replace("SECRET", SECRET)));
    }

    @Tag("slow")
    @ParameterizedTest(name = "{0}")
    @MethodSource("files")
    void noCommandShowsASecretOfAFile(String name, String text) throws IOException {
        Files.writeString(directory.resolve(name), text);
        List<List<String>> commands = new ArrayList<>();
        commands.add(List.of("config", "migrate", name));
        commands.add(List.of("config", "migrate", "-o", "out.yaml", name));
        for (String from : List.of("smqtt", "mosquitto", "moquette")) {
            commands.add(List.of("config", "migrate", "--from", from, name));
        }
        commands.add(List.of("start", "--migrate", name));
        commands.add(List.of("config", "check", "-v", "-c", name));
        commands.add(List.of("config", "print", "-c", name));
        commands.add(List.of("config", "print", "--format", "properties", "--config", name));
        commands.add(List.of("start", "-vv", "--config", name));
        commands.add(List.of("ctl", "clients", "list", "--config", name, "--url", "http://127.0.0.1:1"));
        for (String key : List.of("access.password-file", "access.acl-file", "management.token-file")) {
            commands.add(List.of("config", "check", "-v", "--set", key + "=" + name));
        }
        commands.add(List.of(
                "config",
                "check",
                "--set=listeners.tcp.tls.certificate=" + name,
                "--set=listeners.tcp.tls.key=" + name));
        commands.add(List.of("passwd", "-D", name, "anna"));
        commands.add(List.of("data", "import", "--data", "data", name));

        for (List<String> command : commands) {
            assertThat(run(command)).as(String.join(" ", command)).doesNotContain(SECRET);
        }
    }

    static Stream<List<String>> commandLines() {
        return Stream.of(
                List.of("start", "--set", "cluster.secret", SECRET),
                List.of("start", "--set", "cluster.secret=", SECRET),
                List.of("start", "--set=cluster.secret:" + SECRET),
                List.of("start", "--set", SECRET),
                List.of("start", "--set", "cluster.secrett=" + SECRET),
                List.of("start", "--set", "cluster.enabled=true", "--set", "cluster.secret=" + SECRET, "--set", "x=1"),
                List.of("start", "--set", "cluster.secret " + SECRET + "=1"),
                List.of("start", "--set", "management.otlp.url=http://anna:" + SECRET + "@127.0.0.1/"),
                List.of("config", "print", "--set", "management.otlp.url=http://127.0.0.1/?token=" + SECRET),
                List.of("config", "print", "--set", "cluster.secret=" + SECRET),
                List.of("start", "--password", SECRET),
                List.of("start", "--password=" + SECRET),
                List.of("start", "--" + SECRET),
                List.of("start", "-p" + SECRET),
                List.of("start", SECRET),
                List.of("--password=" + SECRET),
                List.of(SECRET),
                List.of("help", SECRET),
                List.of("ctl", SECRET),
                List.of("ctl", "clients", "list", "--token", SECRET),
                List.of("ctl", "clients", "list", "--token=" + SECRET),
                List.of("ctl", "clients", "list", "--url", "http://anna:" + SECRET + "@127.0.0.1:1"),
                List.of("ctl", "clients", "list", "--url", "http://127.0.0.1:1/?token=" + SECRET),
                List.of("ctl", "clients", "list", "--json=" + SECRET),
                List.of("ctl", "nodes", "--user", "anna", "--password", SECRET),
                List.of("ctl", "users", "add", "anna", SECRET),
                List.of("ctl", "users", "password", "anna", SECRET),
                List.of("top", "--url", "anna:" + SECRET + "@127.0.0.1"),
                List.of("top", "--url", "http://127.0.0.1 /?password=" + SECRET),
                List.of("passwd", "users", "anna", SECRET),
                List.of("passwd", "-b", "users", "anna", SECRET),
                List.of("passwd", "-b", "-D", "users", "anna", SECRET),
                List.of("passwd", "-b", "users", "anna", "more", SECRET),
                List.of("passwd", "--batch=" + SECRET, "users", "anna"),
                List.of("passwd", "-c", "-b", "-I", "1", "users", "anna", SECRET),
                List.of("passwd", "-c", "-b", "users", "an:na", SECRET),
                List.of("bench", "pub", "--pasword", SECRET),
                List.of("bench", "pub", "--pasword=" + SECRET),
                List.of("bench", "pub", "-t", "a", "-p", SECRET),
                List.of("bench", "pub", "-t", "a", "-V", SECRET),
                List.of("bench", "pub", "-t", "a", "-q", SECRET),
                List.of("bench", "pub", "-t", "a", "-i", SECRET),
                List.of("bench", "pub", "-t", "a", "--size", SECRET),
                List.of("bench", "pub", "-t", "a", "--duration", SECRET),
                List.of("ctl", "clients", "list", "--limit", SECRET),
                List.of("top", "--interval", SECRET),
                List.of("top", "--count", SECRET),
                List.of("passwd", "-c", "-b", "-I", SECRET, "users", "anna", "x"),
                List.of("completion", SECRET),
                List.of("config", "migrate", "old.conf", "--from", SECRET),
                List.of("start", "--profile", SECRET));
    }

    @ParameterizedTest
    @MethodSource("commandLines")
    void noCommandRepeatsAnArgumentThatMayBeASecret(List<String> command) throws IOException {
        assertThat(run(command)).doesNotContain(SECRET);
    }

    @Test
    void noVariableIsShown() throws IOException {
        for (String name : List.of(
                "SMQTT_CLUSTER__SECRET",
                "SMQTT_CLUSTER_SECRET",
                "SMQTT_CLUSTER__SECRET_FILE",
                "SMQTT_CLUSTER__SECRETT",
                "SMQTT_MANAGEMENT__INFLUX__TOKEN",
                "SMQTT_MANAGEMENT__INFLUX__TOKEN_FILE",
                "SMQTT_MANAGEMENT__OTLP__HEADERS",
                "SMQTT_ACCESS__PASSWORD",
                "SMQTT_PASSWORD")) {
            for (String value : List.of(SECRET, SECRET + "\0", "a/" + SECRET)) {
                environment.clear();
                environment.put(name, value);
                for (List<String> command :
                        List.of(List.of("start"), List.of("config", "check"), List.of("config", "print"))) {
                    assertThat(run(command)).as(name).doesNotContain(SECRET);
                }
            }
        }
    }

    @Test
    void anExceptionOfALibraryIsShownWithoutWhatItQuotes() throws IOException {
        failure = new IllegalStateException(
                "connection refused: jdbc:x://anna:" + SECRET + "@db/?password=" + SECRET,
                new IllegalArgumentException("secret=" + SECRET + " \"token\": \"" + SECRET + "\""));

        assertThat(run(List.of("start")))
                .contains("connection refused", "password=***")
                .doesNotContain(SECRET);
    }

    private RuntimeException failure = new IllegalStateException("not started");

    /** What a command wrote, and what it logged. */
    private String run(List<String> command) throws IOException {
        Files.deleteIfExists(directory.resolve("out.yaml"));
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(shown, true, StandardCharsets.UTF_8);
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        root.addAppender(logged);
        BrokerStarter starter = (config, legacy, beforehand) -> start(config);
        try {
            SmqttMain.run(
                    new ProgramContext(
                            InputStream.nullInputStream(),
                            stream,
                            stream,
                            environment,
                            directory,
                            starter,
                            new NoSignals(),
                            System::nanoTime,
                            Set.of("smqtt-persistence", "smqtt-cluster")),
                    command.toArray(String[]::new));
        } finally {
            root.detachAppender(logged);
            LogbackSetup.apply(LoggingConfig.defaults());
        }
        StringBuilder all = new StringBuilder(shown.toString(StandardCharsets.UTF_8));
        logged.list.forEach(event -> all.append(new TextLayout().doLayout(event)));
        return all.toString();
    }

    private BrokerStarter.Running start(BrokerConfig config) {
        throw failure;
    }
}
