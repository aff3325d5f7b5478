// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The example of {@code docs/access-ldap.md} with OpenLDAP: its schema, entries, configuration and commands; then TLS, hashes, a server that dies,
 * and what the migration makes of EMQX's settings.
 */
class AccessLdapIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String SERVER = "127.0.0.1:3389";

    /** Users of the other backends, with the hash of {@code secret}. */
    private static final String ENTRIES = """
            dn: uid=%1$s,ou=devices,dc=example,dc=org
            objectClass: mqttUser
            uid: %1$s
            userPassword: {SSHA}P1+3zAc/WkUsFbGKhiTEzEp7D2XeFgsQ
            mqttPubSubTopic: of/${username}

            """;

    /** Before the page's own backend: each is asked about the users with its prefix. */
    private static final String BACKENDS = """
                hashes:
                  type: ldap
                  user-prefix: tls-
                  url: ldaps://localhost:%2$d
                  ca: %3$s
                  bind-dn: cn=smqtt,dc=example,dc=org
                  bind-password: searcher
                  base-dn: ou=devices,dc=example,dc=org
                  filter: (&(objectClass=mqttUser)(uid=${username}))
                  method: hash
                upgraded:
                  type: ldap
                  user-prefix: start-
                  url: ldap://localhost:%1$d
                  start-tls: true
                  ca: %3$s
                  bind-dn: cn=smqtt,dc=example,dc=org
                  bind-password: searcher
                  base-dn: uid=${username},ou=devices,dc=example,dc=org
                stranger:
                  type: ldap
                  user-prefix: other-
                  url: ldaps://localhost:%2$d
                  base-dn: uid=${username},ou=devices,dc=example,dc=org
                misnamed:
                  type: ldap
                  user-prefix: name-
                  url: ldaps://localhost:%4$d
                  ca: %3$s
                  base-dn: uid=${username},ou=devices,dc=example,dc=org
            """;

    private static final String EMQX = """
            listeners.tcp.default { bind = "127.0.0.1:0" }
            listeners.ws.default.enable = false
            authentication = [{
              mechanism = password_based, backend = ldap, OPTIONS
              method { METHOD }
            }]
            authorization {
              no_match = deny
              sources = [{
                type = ldap, OPTIONS
                publish_attribute = mqttPublishTopic, subscribe_attribute = mqttSubscriptionTopic, all_attribute = mqttPubSubTopic
                acl_rule_attribute = mqttAclRule
              }]
            }
            """;

    @TempDir
    static Path directory;

    private static DocumentPage page = new DocumentPage("");
    private static int port;
    private static Slapd server;
    private static BrokerProcess broker;
    private static CapturedProcess misnamed;

    @BeforeAll
    static void start() throws IOException {
        page = DocumentPage.read("access-ldap.md");
        TestCertificates certificates = TestCertificates.in(directory);
        port = LoopbackPorts.one();
        int tlsPort = LoopbackPorts.one();
        String entries = ENTRIES.formatted("tls-1") + ENTRIES.formatted("start-1");
        server = Slapd.start(
                Files.createDirectory(directory.resolve("slapd")), page, entries, certificates, port, tlsPort);
        String access = page.block("yaml", 0)
                .replace(SERVER, "127.0.0.1:" + port)
                .replace("chain: [devices]", "chain: [hashes, upgraded, stranger, misnamed, devices]");
        Path file = Files.writeString(
                directory.resolve("smqtt.yaml"),
                access
                        + BACKENDS.formatted(port, tlsPort, certificates.authority(), misnamedServer(certificates))
                        + LoopbackBroker.MEMORY);
        broker = BrokerProcess.start(Extensions.command("smqtt-access-ldap", directory, file));
    }

    /** Starts a server with a certificate of the authority that is not for its name, and returns its port. */
    private static int misnamedServer(TestCertificates certificates) {
        certificates.renewNode("elsewhere");
        int own = LoopbackPorts.one();
        ProcessBuilder command = new ProcessBuilder(ForeignProgram.path("openssl"), "s_server", "-quiet");
        command.command().addAll(List.of("-accept", "127.0.0.1:" + own));
        command.command()
                .addAll(List.of("-cert", certificates.certificate("elsewhere").toString()));
        command.command().addAll(List.of("-key", certificates.key("elsewhere").toString()));
        misnamed = CapturedProcess.start("openssl", command);
        return own;
    }

    @AfterAll
    static void stop() {
        if (broker != null) {
            broker.close();
        }
        if (server != null) {
            server.close();
        }
        if (misnamed != null) {
            misnamed.close();
        }
    }

    @Test
    void commandsOfThePageGetTheirAnswers() {
        page.assertPublishAnswers(8, options -> MosquittoPub.run(broker, options.split(" ")));
    }

    @Test
    void commandsOfThePageGetTheSameAnswersFromHashes() throws IOException {
        String access = page.blocks("yaml").stream()
                .filter(block -> block.startsWith("access:") && block.contains("method: hash"))
                .findFirst()
                .orElseThrow();
        Path home = Files.createDirectory(directory.resolve("hashes"));
        Path file = Files.writeString(
                home.resolve("smqtt.yaml"), access.replace(SERVER, "127.0.0.1:" + port) + LoopbackBroker.MEMORY);
        try (BrokerProcess other = BrokerProcess.start(Extensions.command("smqtt-access-ldap", home, file))) {
            page.assertPublishAnswers(8, options -> MosquittoPub.run(other, options.split(" ")));
        }
    }

    @Test
    void hashesAreReadOverTlsAndPasswordsCheckedAfterStartTls() {
        for (String user : List.of("tls-1", "start-1")) {
            assertThat(publish("-u", user, "-P", "secret", "-t", "of/" + user))
                    .as(user)
                    .isEmpty();
            assertThat(publish("-u", user, "-P", "secret", "-t", "of/other")).containsIgnoringCase("not authorized");
            assertThat(publish("-u", user, "-P", "wrong", "-t", "of/" + user))
                    .containsIgnoringCase("bad user name or password");
        }
    }

    @Test
    void aServerIsNotTrustedWithAnUnknownAuthorityOrTheNameOfAnother() {
        assertThat(publish("-u", "other-1", "-P", "secret", "-t", "of/other-1"))
                .containsIgnoringCase("server unavailable");
        assertThat(publish("-u", "name-1", "-P", "secret", "-t", "of/name-1"))
                .containsIgnoringCase("server unavailable");
        assertThat(broker.output())
                .anyMatch(line -> line.contains("backend stranger failed") && line.contains("certification path"))
                .anyMatch(line -> line.contains("backend misnamed failed") && line.contains("Hostname verification"));
    }

    @Test
    void clientsAreRefusedWhileTheServerIsAwayAndAcceptedWhenItIsBack() {
        assertThat(publish("-u", "ann", "-P", "secret", "-t", "sites/s1/x", "-i", "before"))
                .isEmpty();
        server.kill();
        assertThat(publish("-u", "ann", "-P", "secret", "-t", "sites/s1/x", "-i", "during"))
                .containsIgnoringCase("server unavailable");

        server.startAgain();

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(publish("-u", "ann", "-P", "secret", "-t", "sites/s1/x", "-i", "after"))
                        .isEmpty());
    }

    @Test
    void whatTheMigrationMakesOfEmqxWithBindsLetsInAndRefusesTheSame() throws IOException {
        Path home = emqx("bind", "type = bind, bind_password = \"${password}\"");
        try (CapturedProcess migrate = BrokerProcess.run(home, "config", "migrate", "emqx.conf", "-o", "new.yaml")) {
            assertThat(migrate.awaitExit(PATIENCE)).as(migrate.report()).isZero();
            assertThat(migrate.output()).noneMatch(line -> line.contains("searcher"));
        }

        assertMigrated(home, "--config", "new.yaml");
    }

    @Test
    void whatTheMigrationMakesOfEmqxWithHashesLetsInAndRefusesTheSame() throws IOException {
        Path home =
                emqx("hash", "type = hash, password_attribute = userPassword, is_superuser_attribute = isSuperuser");

        assertMigrated(home, "--migrate", "emqx.conf");
    }

    private static Path emqx(String name, String method) throws IOException {
        String options = """
                server = "127.0.0.1:%d", username = "cn=smqtt,dc=example,dc=org", password = searcher
                base_dn = "uid=${username},ou=devices,dc=example,dc=org", filter = "(objectClass=mqttUser)\"""".formatted(port);
        Path home = Files.createDirectory(directory.resolve(name));
        Files.writeString(
                home.resolve("emqx.conf"), EMQX.replace("OPTIONS", options).replace("METHOD", method));
        return home;
    }

    private static void assertMigrated(Path home, String... options) {
        try (BrokerProcess migrated = BrokerProcess.start(Extensions.migrated("smqtt-access-ldap", home, options))) {
            assertThat(MosquittoPub.publish(migrated, "-u", "ann", "-P", "secret", "-t", "sites/s1/x"))
                    .isEmpty();
            assertThat(MosquittoPub.publish(migrated, "-u", "root", "-P", "toor", "-t", "other"))
                    .isEmpty();
            for (String forbidden : List.of("sites/s1/locked", "sites/s2/x", "other")) {
                assertThat(MosquittoPub.publish(migrated, "-u", "ann", "-P", "secret", "-t", forbidden))
                        .as(forbidden)
                        .containsIgnoringCase("not authorized");
            }
            assertThat(MosquittoPub.publish(migrated, "-u", "ann", "-P", "wrong", "-t", "sites/s1/x"))
                    .containsIgnoringCase("bad user name or password");
        }
    }

    private static String publish(String... options) {
        return MosquittoPub.publish(broker, options);
    }
}
