// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same mosquitto.conf, read by mosquitto and by this broker, lets the same clients in and the same messages through. */
class MigrationIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Path EXAMPLE = Path.of("/usr/share/doc/mosquitto/examples/mosquitto.conf");

    @TempDir
    Path directory;

    @Test
    void bothBrokersLetInAndRefuseTheSame() throws IOException {
        password("anna", "-c", "-b");
        password("admin", "-b");
        Files.writeString(directory.resolve("acl"), """
                topic read open/#
                user anna
                topic readwrite own/anna/#
                topic deny own/anna/locked
                topic write drop/box
                topic read open/#
                user admin
                topic readwrite #
                pattern write seen/%c
                """);
        int port = LoopbackPorts.one();
        Path conf = Files.writeString(directory.resolve("mosquitto.conf"), """
                per_listener_settings false
                listener %d 127.0.0.1
                password_file %s
                acl_file %s
                allow_anonymous false
                max_keepalive 120
                log_type error
                user root
                """.formatted(
                        port, directory.resolve("users"), directory.resolve("acl")));

        List<String> theirs;
        try (CapturedProcess mosquitto = CapturedProcess.start(
                "mosquitto", new ProcessBuilder(ForeignProgram.path("mosquitto"), "-c", conf.toString()))) {
            InstalledMosquitto.awaitListening(port, mosquitto);
            theirs = behaviour(port);
        }
        List<String> ours;
        List<String> command = List.of("--set", "listeners.tcp.port=0", "--set", "management.port=0");
        try (BrokerProcess broker = BrokerProcess.migrated(directory, conf, command)) {
            ours = behaviour(broker.port("tcp"));
        }

        assertThat(theirs)
                .contains("anna: in", "anna wrong: out", "nobody: out", "admin got own/anna/x", "anna got open/a")
                .doesNotContain("admin got own/bob/x", "admin got own/anna/locked", "anna got secret/a");
        assertThat(ours).isEqualTo(theirs);
    }

    @Test
    void filesOfThePackageBecomeConfigurationsThatPassTheCheck() throws IOException {
        Path conf = Files.createDirectory(directory.resolve("conf.d"));
        Path debian = Files.writeString(directory.resolve("debian.conf"), """
                # Place your local configuration in /etc/mosquitto/conf.d/
                pid_file /run/mosquitto/mosquitto.pid

                persistence true
                persistence_location /var/lib/mosquitto/

                log_dest file /var/log/mosquitto/mosquitto.log

                include_dir %s
                """.formatted(conf));
        // slim images install packages without their documentation
        for (Path original : Files.isReadable(EXAMPLE) ? List.of(debian, EXAMPLE) : List.of(debian)) {
            String name = original.equals(debian) ? "debian.yaml" : "example.yaml";
            try (CapturedProcess migrate =
                    BrokerProcess.run(directory, "config", "migrate", original.toString(), "-o", name)) {
                assertThat(migrate.awaitExit(PATIENCE)).as(migrate.report()).isZero();
            }
            try (CapturedProcess check = BrokerProcess.run(directory, "config", "check", "--config", name)) {
                assertThat(check.awaitExit(PATIENCE)).as(check.report()).isZero();
            }
        }

        assertThat(directory.resolve("debian.yaml")).content().contains("kind: rocksdb", "host: 127.0.0.1");
    }

    @Test
    void emqxFilesBecomeAConfigurationThatPassesTheCheckAndActsLikeItsRules() throws IOException {
        TestCertificates certificates = TestCertificates.in(directory);
        int bridged = LoopbackPorts.one();
        Files.writeString(directory.resolve("acl.conf"), """
                {allow, {ipaddr, "127.0.0.1"}, subscribe, ["open/#"]}.
                {deny, all, subscribe, ["$SYS/#", {eq, "#"}]}.
                {allow, all, publish, ["own/${clientid}/#", "open/#"]}.
                {deny, all}.
                """);
        Files.writeString(directory.resolve("emqx.conf"), """
                tls { verify = verify_none }
                listeners.tcp.default { bind = "127.0.0.1:0", max_connections = 1000 }
                listeners.ssl.default {
                  bind = "127.0.0.1:0"
                  ssl_options { certfile = "%s", keyfile = "${EMQX_ETC_DIR}/server.key", verify = ${tls.verify} }
                }
                listeners.ws.default { bind = "127.0.0.1:0" }
                mqtt { max_packet_size = 2MB, session_expiry_interval = 1h }
                authentication = []
                authorization { no_match = deny, sources = [{ type = file, path = "${EMQX_ETC_DIR}/acl.conf" }] }
                bridges.mqtt.up {
                  server = "127.0.0.1:%d", username = u, password = p
                  egress { local.topic = "open/#", remote { topic = "site/${topic}", qos = 1 } }
                }
                """.formatted(certificates.serverCertificate(), bridged));

        String report = migrated("emqx.conf", "emqx.yaml");
        List<String> seen = new ArrayList<>();
        try (BrokerProcess broker = BrokerProcess.start(
                directory,
                List.of(),
                directory.resolve("emqx.yaml"),
                "management.port=0",
                "bridges.up.enabled=false")) {
            int port = broker.port("tcp");
            assertThat(broker.port("ssl")).isPositive();
            try (CapturedProcess reader = subscribe(port, "any", "open/#", "own/#")) {
                for (String topic : List.of("own/c1/x", "own/c2/x", "open/a")) {
                    publish(port, "any", topic);
                }
                seen.addAll(until(port, reader, "any", "open/end"));
            }
        }

        assertThat(report).contains("acl.conf:2: NOT ENFORCED; ").doesNotContain("password = p");
        assertThat(seen).containsExactly("any got open/a", "any got open/end");
        assertThat(directory.resolve("emqx.yaml"))
                .content()
                .contains(
                        "open/# out 1 ",
                        "site/",
                        "password-file: emqx.bridge-up.password",
                        "max-packet-bytes: 2097152");
    }

    @Test
    void pluginAndBridgesOfMosquittoBecomeAConfigurationThatPassesTheCheck() throws IOException {
        Files.writeString(directory.resolve("go-auth.conf"), """
                listener 0 /tmp/mosquitto.sock
                listener 1883 127.0.0.1
                auth_plugin /mosquitto/go-auth.so
                auth_opt_backends http, files, jwt
                auth_opt_http_host 127.0.0.1
                auth_opt_http_port 8090
                auth_opt_http_getuser_uri /user
                auth_opt_http_aclcheck_uri /acl
                auth_opt_jwt_mode files
                auth_opt_jwt_secret 0123456789abcdef0123456789abcdef
                connection cloud
                address cloud.example.com:1883
                topic sensors/# out 1 "" plant7/
                topic "" in 0 local/state remote/state
                remote_username plant
                remote_password secret
                """);

        migrated("go-auth.conf", "go-auth.yaml");

        assertThat(directory.resolve("go-auth.yaml"))
                .content()
                .contains("chain: \"http,password-file,jwt\"", "password-file: go-auth.bridge-cloud.password");
    }

    /** Converts a file, checks the result, and returns the report. */
    private String migrated(String old, String name) {
        String report;
        try (CapturedProcess migrate = BrokerProcess.run(directory, "config", "migrate", old, "-o", name)) {
            assertThat(migrate.awaitExit(PATIENCE)).as(migrate.report()).isZero();
            report = String.join("\n", migrate.output());
        }
        try (CapturedProcess check = BrokerProcess.run(directory, "config", "check", "--config", name)) {
            assertThat(check.awaitExit(PATIENCE)).as(check.report()).isZero();
        }
        return report;
    }

    /** What clients see, one line for each action, in the same order for every broker. */
    private List<String> behaviour(int port) {
        List<String> seen = new ArrayList<>();
        seen.add("anna: " + connects(port, "-u", "anna", "-P", "pw-anna"));
        seen.add("anna wrong: " + connects(port, "-u", "anna", "-P", "wrong"));
        seen.add("unknown: " + connects(port, "-u", "eve", "-P", "pw-anna"));
        seen.add("nobody: " + connects(port));
        try (CapturedProcess admin = subscribe(port, "admin", "own/#", "drop/#", "seen/#", "end")) {
            for (String topic :
                    List.of("own/anna/x", "own/anna/locked", "own/bob/x", "drop/box", "seen/c1", "seen/c2", "open/a")) {
                publish(port, "anna", topic);
            }
            seen.addAll(until(port, admin, "admin", "end"));
        }
        try (CapturedProcess anna = subscribe(port, "anna", "open/#", "secret/#", "own/anna/#", "drop/box")) {
            for (String topic : List.of("open/a", "secret/a", "own/anna/locked", "own/anna/y", "drop/box")) {
                publish(port, "admin", topic);
            }
            seen.addAll(until(port, anna, "anna", "open/end"));
        }
        return seen;
    }

    private static String connects(int port, String... options) {
        List<String> command = client("mosquitto_pub", port, "-i", "probe", "-t", "open/probe", "-m", "x");
        command.addAll(List.of(options));
        try (CapturedProcess process = CapturedProcess.start("mosquitto_pub", new ProcessBuilder(command))) {
            return process.awaitExit(PATIENCE) == 0 ? "in" : "out";
        }
    }

    private static void publish(int port, String user, String topic) {
        List<String> command = client(
                "mosquitto_pub", port, "-i", "c1", "-u", user, "-P", "pw-" + user, "-q", "1", "-t", topic, "-m", "x");
        try (CapturedProcess process = CapturedProcess.start("mosquitto_pub", new ProcessBuilder(command))) {
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isZero(); // MQTT 3.1.1 tells of no denial
        }
    }

    private static CapturedProcess subscribe(int port, String user, String... filters) {
        List<String> command = client(
                "mosquitto_sub",
                port,
                "-d",
                "-q",
                "1",
                "-F",
                "got %t",
                "-i",
                "s-" + user,
                "-u",
                user,
                "-P",
                "pw-" + user);
        command.addAll(0, List.of("stdbuf", "-oL"));
        for (String filter : filters) {
            command.addAll(List.of("-t", filter));
        }
        CapturedProcess process = CapturedProcess.start("mosquitto_sub", new ProcessBuilder(command));
        process.awaitLine("SUBACK", line -> line.startsWith("Subscribed"), PATIENCE);
        return process;
    }

    /** Sends a last message, which follows all others in the order of one subscriber, and returns what came. */
    private static List<String> until(int port, CapturedProcess subscriber, String user, String last) {
        publish(port, "admin", last);
        subscriber.awaitLine("the last message", ("got " + last)::equals, PATIENCE);
        return subscriber.output().stream()
                .filter(line -> line.startsWith("got "))
                .map(line -> user + " " + line)
                .toList();
    }

    private static List<String> client(String program, int port, String... options) {
        List<String> command = new ArrayList<>(
                List.of(ForeignProgram.path(program), "-h", "127.0.0.1", "-p", String.valueOf(port), "-V", "mqttv311"));
        command.addAll(List.of(options));
        return command;
    }

    private void password(String user, String... options) {
        List<String> command = new ArrayList<>(List.of(ForeignProgram.path("mosquitto_passwd")));
        command.addAll(List.of(options));
        command.addAll(List.of(directory.resolve("users").toString(), user, "pw-" + user));
        try (CapturedProcess process = CapturedProcess.start("mosquitto_passwd", new ProcessBuilder(command))) {
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isZero();
        }
    }

    /** A port that was free a moment ago: mosquitto cannot choose one. */
}
