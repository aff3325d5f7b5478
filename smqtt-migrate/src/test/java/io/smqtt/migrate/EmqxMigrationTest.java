// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EmqxMigrationTest {

    private static final Path SAMPLES = Path.of("src/test/resources/migrate");

    /** Keys that decide how another key is written, which has the origin. */
    private static final Set<String> SAID_BY_ANOTHER_KEY = Set.of(
            "authentication[0].backend",
            "authentication[1].algorithm",
            "authentication[1].use_jwks",
            "authentication[3].mechanism",
            "authentication[3].backend",
            "authorization.sources[1].type",
            "authorization.sources[1].path",
            "authorization.no_match",
            "authorization.cache.enable",
            "bridges.mqtt.cloud.egress.remote.qos",
            "bridges.mqtt.cloud.egress.local.topic",
            "bridges.mqtt.cloud.ingress.remote.topic",
            "bridges.mqtt.cloud.ingress.remote.qos",
            "actions.mqtt.up.connector",
            "actions.mqtt.up.parameters.qos",
            "sources.mqtt.down.connector",
            "sources.mqtt.down.parameters.topic",
            "sources.mqtt.down.parameters.qos",
            "rule_engine.rules.forward.actions",
            "rule_engine.rules.fetch.sql",
            "rule_engine.rules.fetch.actions[0].function",
            "rule_engine.rules.fetch.actions[0].args.topic",
            "rule_engine.rules.fetch.actions[0].args.qos",
            "rule_engine.rules.fetch.actions[0].args.payload",
            "mqtt.peer_cert_as_clientid",
            "flapping_detect.enable",
            "retainer.backend.type",
            "site");

    @TempDir
    Path directory;

    @Test
    void keysOfEmqxBecomeOurs() {
        Migration migration = Migration.read(SAMPLES.resolve("emqx.conf"), "emqx.conf", null);

        assertThat(migration.broker()).isEqualTo(OldBroker.emqx);
        assertThat(migration.settings("new"))
                .containsEntry("listeners.tcp.host", "0.0.0.0")
                .containsEntry("listeners.tcp.port", "1883")
                .containsEntry("listeners.tcp.max-connections", "20000")
                .containsEntry("listeners.tcp.max-connect-rate", "500")
                .containsEntry("listeners.tcp.backlog", "2048")
                .containsEntry("listeners.tcp.connect-timeout", "10s")
                .containsEntry("listeners.tcp-internal.type", "tcp")
                .containsEntry("listeners.tcp-internal.port", "11883")
                .containsEntry("listeners.tcp-internal.proxy-protocol", "true")
                .containsEntry("listeners.ws.path", "/mqtt")
                .containsEntry("listeners.ssl.enabled", "false")
                .containsEntry("limits.max-publish-rate", "50")
                .containsEntry("limits.max-bytes-rate", "1048576")
                .containsEntry("limits.max-packet-bytes", "2097152")
                .containsEntry("limits.max-topic-levels", "16")
                .containsEntry("limits.max-in-flight", "64")
                .containsEntry("limits.receive-maximum", "64")
                .containsEntry("limits.max-queued-messages", "5000")
                .containsEntry("limits.max-awaiting-release", "200")
                .containsEntry("limits.max-retained-messages", "50000")
                .containsEntry("retained-policies.all.topic", "#")
                .containsEntry("retained-policies.all.max-payload-bytes", "1048576")
                .containsEntry("retained-policies.all.expiry", "7200s")
                .containsEntry("session.default-expiry", "43200s")
                .containsEntry("session.max-expiry", "4294967295s")
                .containsEntry("session.queue-qos0", "false")
                .containsEntry("mqtt.max-keep-alive", "300s")
                .containsEntry("mqtt.shared-strategy", "hash-client")
                .containsEntry("storage.kind", "rocksdb")
                .containsEntry("delayed.max-messages", "1000")
                .containsEntry("topic-rewrites.rewrite-001.dest-topic", "z/y/$1")
                .containsEntry("auto-subscriptions.auto-001.topic", "c/${clientid}")
                .containsEntry("auto-subscriptions.auto-001.no-local", "true")
                .containsEntry("access.bans.max-disconnects", "20")
                .containsEntry("access.bans.disconnect-window", "120s")
                .containsEntry("management.sys-interval", "60s")
                .containsEntry("management.port", "18084")
                .containsEntry("logging.level", "warn");
    }

    @Test
    void authenticationAndAuthorizationBecomeAChain() throws IOException {
        Migration migration = Migration.read(SAMPLES.resolve("emqx.conf"), "emqx.conf", null);

        migration.writeAccessFiles(directory, "new", false);

        assertThat(migration.settings("new"))
                .containsEntry("access.allow-anonymous", "false")
                .containsEntry("access.chain", "http,jwt,password-file,http-acl")
                .containsEntry("access.password-file", "new.passwd")
                .containsEntry("access.backends.http.type", "http")
                .containsEntry("access.backends.http.url", "http://127.0.0.1:9090/plant7/user")
                .containsEntry("access.backends.http.body.password", "${password}")
                .containsEntry("access.backends.http.headers.content-type", "application/json")
                .containsEntry("access.backends.http.max-concurrent", "16")
                .containsEntry("access.backends.http.timeout", "3s")
                .containsEntry("access.backends.jwt.secret-file", "new.jwt.secret")
                .containsEntry("access.backends.jwt.verify-claims.username", "${username}")
                .containsEntry("access.backends.http-acl.acl.url", "http://127.0.0.1:9090/plant7/acl")
                .containsEntry("access.backends.http-acl.checks", "acl")
                .containsEntry("access.backends.http-acl.cache-ttl", "30s")
                .doesNotContainKey("access.backends.http.headers.authorization");
        assertThat(directory.resolve("new.jwt.secret")).content().startsWith("a s3cret of");
        assertThat(Files.getPosixFilePermissions(directory.resolve("new.jwt.secret")))
                .hasSize(2);
        assertThat(Files.readAllLines(directory.resolve("new.acl")))
                .containsExactly(
                        "# acl.conf: what no rule allows is denied",
                        "user dashboard",
                        "topic read $SYS/#",
                        "address 127.0.0.1",
                        "pattern readwrite $SYS/#",
                        "address any",
                        "address 127.0.0.1",
                        "pattern readwrite #",
                        "address any",
                        "# line 4: nothing allows $SYS/#",
                        "user tech",
                        "topic write plant/+/cmd",
                        "pattern write plant/%c/up/#",
                        "pattern read plant/%c/down/#",
                        "# line 9: nothing allows #");
    }

    @Test
    void bridgesAndRulesThatOnlyForwardBecomeBridges() throws IOException {
        Migration migration = Migration.read(SAMPLES.resolve("emqx.conf"), "emqx.conf", null);

        migration.writeAccessFiles(directory, "new", false);

        assertThat(migration.settings("new"))
                .containsEntry("bridges.cloud.addresses", "cloud.example.com:1883")
                .containsEntry("bridges.cloud.version", "5")
                .containsEntry("bridges.cloud.username", "plant")
                .containsEntry("bridges.cloud.keep-alive", "60s")
                .containsEntry("bridges.cloud.topics", "sensors/# out 1 \"\" plant7/,commands/# in 1 from-cloud/ \"\"")
                .containsEntry("bridges.cloud.password-file", "new.bridge-cloud.password")
                .containsEntry("bridges.hub.topics", "alarms/# out 1,hub/cmd/# in 2")
                .containsEntry("bridges.hub.clean-start", "false");
        assertThat(directory.resolve("new.bridge-cloud.password")).hasContent("s3cret-bridge");
        assertThat(migration.notes())
                .anyMatch(note -> note.contains("rule_engine.rules.alarm: not migrated; it has no action"))
                .anyMatch(note ->
                        note.contains("connectors.kafka_producer.k: not migrated; no rule") && note.contains("(2 keys"))
                .anyMatch(note -> note.contains("connectors.mqtt.hub.pool_size: not migrated"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "server = \"mqtt://h\", egress { local.topic = a, remote.topic = a } | its server must be host:port",
                "server = h, egress { local.topic = \"a/#\", remote.topic = \"${clientid}\" } | it forwards nothing",
                "server = h, egress { local.topic = a, remote { topic = a, payload = x } } | it forwards nothing",
                "server = h, ingress { remote.topic = a } | it forwards nothing",
                "server = h, enable = false | it is off in the file",
            })
    void bridgeThatCannotBeWrittenIsLeftOut(String keys, String reason) throws IOException {
        Migration migration = read("bridges.mqtt.b { " + keys + " }");

        assertThat(migration.settings("new").keySet()).noneMatch(key -> key.startsWith("bridges."));
        assertThat(migration.notes()).anyMatch(note -> note.contains("bridges.mqtt.b: not migrated; " + reason));
    }

    @Test
    void bridgesWithTlsAndOtherNames() throws IOException {
        assertThat(read("""
                bridges.mqtt.b {
                  server = "h:8883"
                  ssl { enable = true, cacertfile = "ca.pem", verify = verify_peer }
                  egress { local.topic = "a/#", remote { topic = "x/${topic}/y", qos = "${qos}" } }
                  ingress { remote.topic = "c", local.topic = "d" }
                }
                """).settings("new"))
                .containsEntry("bridges.b.addresses", "mqtts://h:8883")
                .containsEntry("bridges.b.tls.ca", directory.resolve("ca.pem").toString())
                .containsEntry("bridges.b.topics", "a/# out 2 => x/${topic}/y,c in 1 => d");
    }

    @ParameterizedTest
    @CsvSource({"pool_size = 4, 4", "pool_size = 1000, 64", "egress.pool_size = 3, 3"})
    void aPoolBecomesConnectionsIfNothingComesIn(String key, String expected) throws IOException {
        String out = "server = \"h:1883\", egress { local.topic = \"a/#\" }";

        assertThat(read("bridges.mqtt.b { " + out + ", " + key + " }").settings("new"))
                .containsEntry("bridges.b.connections", expected);
        Migration both =
                read("bridges.mqtt.b { " + out + ", ingress { remote.topic = c, local.topic = d }, " + key + " }");
        assertThat(both.settings("new")).doesNotContainKey("bridges.b.connections");
        assertThat(both.notes()).anyMatch(note -> note.contains("connections: stays 1, because messages come in, too"));
    }

    @ParameterizedTest
    @CsvSource({"false, false, false", "'\"${retain}\"', , false", "true, , true"})
    void aRetainFlagIsTakenAwayButNotSet(String theirs, String ours, boolean differs) throws IOException {
        Migration migration =
                read("bridges.mqtt.b { server = \"h:1883\", egress { local.topic = \"a/#\", remote.retain = " + theirs
                        + " } }");

        assertThat(migration.settings("new").get("bridges.b.outgoing-retain")).isEqualTo(ours);
        assertThat(migration.notes().stream()
                        .anyMatch(note -> note.contains("outgoing-retain: the flag stays as it is")))
                .isEqualTo(differs);
    }

    @Test
    void databasesBecomeBackends() throws IOException {
        Migration migration = read("""
                authentication = [
                  {
                    mechanism = password_based, backend = postgresql
                    server = "db:5432", database = mqtt, username = m, password = "s3cret"
                    query = "SELECT password_hash, salt FROM mqtt_user WHERE username = '${username}' AND kind = 'x' LIMIT 1"
                    password_hash_algorithm { name = pbkdf2, mac_fun = sha256, iterations = 4096, dk_length = 32, salt_position = suffix }
                    ssl { enable = true, verify = verify_peer, cacertfile = "ca.pem" }
                  }
                  {
                    mechanism = password_based, backend = mysql, server = db, database = mqtt
                    query = "SELECT 1 FROM t WHERE a = ? AND b = ${username}"
                  }
                ]
                authorization.sources = [{
                  type = mysql, server = db, database = mqtt, pool_size = 4
                  query = "SELECT permission, action, topic FROM mqtt_acl WHERE username = ${username}"
                }]
                """);

        assertThat(migration.settings("new"))
                .containsEntry("access.chain", "postgresql,mysql-acl")
                .containsEntry("access.backends.postgresql.type", "sql")
                .containsEntry(
                        "access.backends.postgresql.url",
                        "jdbc:postgresql://db:5432/mqtt?sslmode=verify-full&sslrootcert=" + directory.resolve("ca.pem"))
                .containsEntry(
                        "access.backends.postgresql.query",
                        "SELECT password_hash, salt FROM mqtt_user WHERE username = ${username} AND kind = 'x' LIMIT 1")
                .containsEntry("access.backends.postgresql.password-file", "new.postgresql.password")
                .containsEntry("access.backends.postgresql.hash.name", "pbkdf2")
                .containsEntry("access.backends.postgresql.hash.dk-length", "32")
                .doesNotContainKey("access.backends.postgresql.hash.salt-position")
                .containsEntry("access.backends.mysql-acl.url", "jdbc:mariadb://db:3306/mqtt")
                .containsEntry("access.backends.mysql-acl.max-concurrent", "4")
                .containsKey("access.backends.mysql-acl.acl-query");
        assertThat(migration.notes())
                .anyMatch(note -> note.contains("authentication[1]: not migrated; its query has a question mark"))
                .noneMatch(note -> note.contains("s3cret"));
    }

    @Test
    void directoriesBecomeBackends() throws IOException {
        Migration migration = read("""
                authentication = [{
                  mechanism = password_based, backend = ldap
                  server = "10.0.0.1:389, 10.0.0.2", username = "cn=reader,dc=x", password = "s3cret"
                  base_dn = "uid=${username},ou=devices,dc=x", filter = "(objectClass=mqttUser)"
                  method { type = hash, password_attribute = userPassword, is_superuser_attribute = isSuperuser }
                  ssl { enable = true, cacertfile = "ca.pem" }
                }]
                authorization.sources = [{
                  type = ldap, server = "10.0.0.1", base_dn = "uid=${username},ou=devices,dc=x", publish_attribute = pub
                }]
                """);

        assertThat(migration.settings("new"))
                .containsEntry("access.chain", "ldap,ldap-acl")
                .containsEntry("access.backends.ldap.type", "ldap")
                .containsEntry("access.backends.ldap.url", "ldaps://10.0.0.1:389,ldaps://10.0.0.2:636")
                .containsEntry("access.backends.ldap.bind-dn", "cn=reader,dc=x")
                .containsEntry("access.backends.ldap.bind-password-file", "new.ldap.password")
                .containsEntry("access.backends.ldap.base-dn", "uid=${username},ou=devices,dc=x")
                .containsEntry("access.backends.ldap.method", "hash")
                .containsEntry("access.backends.ldap.checks", "user")
                .containsEntry(
                        "access.backends.ldap.ca", directory.resolve("ca.pem").toString())
                .containsEntry("access.backends.ldap-acl.url", "ldap://10.0.0.1:389")
                .containsEntry("access.backends.ldap-acl.publish-attribute", "pub")
                .containsEntry("access.backends.ldap-acl.checks", "acl");
        assertThat(migration.notes()).noneMatch(note -> note.contains("s3cret"));
        assertThat(read("authentication = { backend = ldap, server = h, base_dn = \"ou=x\" }")
                        .settings("new")
                        .keySet())
                .noneMatch(key -> key.startsWith("access.backends."));
    }

    @Test
    void differencesAreNamedWithTheirLinesAndWithoutSecrets() {
        Migration migration = Migration.read(SAMPLES.resolve("emqx.conf"), "emqx.conf", null);

        assertThat(migration.notes())
                .anyMatch(note -> note.startsWith("emqx.conf:4: node.cookie: not migrated")
                        || note.startsWith("emqx.conf:4: node: not migrated"))
                .anyMatch(note -> note.startsWith("emqx.conf:22: listeners.tcp.internal.mountpoint: NOT ENFORCED; "))
                .anyMatch(note -> note.startsWith("emqx.conf:21: listeners.tcp.internal.enable_authn: differs; "))
                .anyMatch(note -> note.contains(": rewrite[1]: not migrated; ") && note.contains("back references"))
                .anyMatch(note -> note.contains("authentication[2]: not migrated; there is no backend mongodb"))
                .anyMatch(note -> note.contains("authorization.deny_action: not migrated; "))
                .anyMatch(note -> note.startsWith("acl.conf:6: NOT ENFORCED; "))
                .anyMatch(note -> note.startsWith("acl.conf:4: NOT ENFORCED; "))
                .anyMatch(note -> note.contains("gateway: not migrated; ") && note.contains("(2 keys, to line "))
                .anyMatch(note -> note.contains("made_up.by: not migrated; it is not a known key"))
                .noneMatch(note -> note.contains("wins over"))
                .noneMatch(note -> note.contains("s3cret"));
        assertThat(migration.notes().stream()
                        .filter(note -> note.startsWith("emqx.conf:"))
                        .map(note -> Integer.parseInt(note.split(":")[1])))
                .isSorted();
        assertThat(migration.settings("new").values()).noneMatch(text -> text.contains("s3cret"));
    }

    @Test
    void noKeyIsLost() {
        Path path = SAMPLES.resolve("emqx.conf");
        List<OldSetting> all = HoconFile.read(OldFile.read(path, "emqx.conf")).settings();
        Migration migration = Migration.read(path, "emqx.conf", null);
        List<String> origins = migration.settings("new").keySet().stream()
                .map(migration::origin)
                .toList();
        List<String> named = migration.notes().stream()
                .map(note -> note.split(": ", 3))
                .map(parts -> parts.length > 1 ? parts[1] : "")
                .toList();

        assertThat(all).hasSizeGreaterThan(100);
        assertThat(all.stream().filter(setting -> {
                    boolean noted = named.stream()
                            .anyMatch(name -> setting.key().equals(name)
                                    || setting.key().startsWith(name + ".")
                                    || name.endsWith("…")
                                            && setting.key().startsWith(name.substring(0, name.length() - 1)));
                    boolean taken = origins.stream().anyMatch(origin -> origin.startsWith(setting.where() + " "));
                    return !noted && !taken && !SAID_BY_ANOTHER_KEY.contains(setting.key());
                }))
                .isEmpty();
    }

    @Test
    void withoutAuthenticationAllClientsMayConnectAsBefore() throws IOException {
        Migration migration = read(
                "listeners.tcp.default.bind = 1883\nauthentication = []\nauthorization { no_match = allow, sources = [] }");

        assertThat(migration.settings("new"))
                .containsEntry("access.allow-anonymous", "true")
                .doesNotContainKeys("access.acl-file", "access.chain");
        assertThat(migration.notes())
                .anyMatch(note -> note.contains("there is no authentication"))
                .noneMatch(note -> note.contains("authorization.sources"))
                .noneMatch(note -> note.contains("not a known key"));
    }

    @Test
    void rulesOfASourceThatIsLeftOutAreNotOpenedByTheDefault() throws IOException {
        Files.writeString(directory.resolve("acl.conf"), "{allow, {user, \"a\"}, all, [\"a/#\"]}.\n");
        Migration migration = read("""
                authorization {
                  no_match = allow
                  sources = [
                    { type = mongodb, collection = acl }
                    { type = file, path = "acl.conf" }
                  ]
                }
                """);

        migration.writeAccessFiles(directory, "new", false);

        assertThat(directory.resolve("new.acl"))
                .content()
                .contains("topic readwrite a/#")
                .doesNotContain("readwrite #\n");
        assertThat(migration.notes())
                .anyMatch(note -> note.contains("authorization.sources[0]: NOT ENFORCED; there is no backend mongodb"));
    }

    @Test
    void rulesOfEmqxItselfAreReadBesideTheFile() throws IOException {
        Files.writeString(
                directory.resolve("acl.conf"), "{deny, all, subscribe, [\"$SYS/#\", {eq, \"#\"}]}.\n{allow, all}.\n");
        Migration migration = read("listeners.tcp.default.bind = 1883");

        migration.writeAccessFiles(directory, "new", false);

        assertThat(directory.resolve("new.acl"))
                .content()
                .contains("pattern readwrite #")
                .doesNotContain("deny");
    }

    @Test
    void earlierAllowingRuleThatADenyingOneBeatsIsReported() throws IOException {
        Files.writeString(directory.resolve("acl.conf"), """
                {allow, {user, "a"}, all, ["a/1"]}.
                {deny, all, all, ["a/#"]}.
                {allow, all}.
                """);
        Migration migration = read("mqtt.max_qos_allowed = 1");

        migration.writeAccessFiles(directory, "new", false);

        assertThat(directory.resolve("new.acl")).content().contains("pattern deny readwrite a/#");
        assertThat(migration.notes())
                .anyMatch(note ->
                        note.startsWith("acl.conf:1: differs; ") && note.contains("the denying rule in line 2 wins"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "listener.tcp.external = 1883 | f.conf:1: is a key of EMQX 4",
                "listeners.tcp.default.bind = x | f.conf:1: listeners.tcp.default.bind must be a port",
                "mqtt.max_packet_size = many | f.conf:1: mqtt.max_packet_size must be a size",
                "mqtt.idle_timeout = soon | must be a duration",
                "listeners.tcp.default.max_conn_rate = 5 | must be a rate",
                "listeners.tcp.default.authentication.mechanism = jwt | applies to one listener",
                "authorization.sources = [{type = file, path = none.conf}] | names a file that cannot be read",
                "authorization.sources = [{type = file, rules = \"{allow, all}\"}] | is not an Erlang term",
            })
    void whatCannotBeMigratedIsRefusedWithItsLine(String text, String problem) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "url = \"http://${username}.example/\" | its url must begin",
                "url = \"http://a:b@example/\" | its url must begin",
                "url = \"http://example/\", body { x = \"${zone}\" } | a placeholder in line 1 is not known here",
                "url = \"http://example/\", body { x { y = 1 } } | nested object",
                "url = \"http://example/\", method = put | neither post nor get",
                "url = \"http://example/\", enable = false | it is off in the file",
            })
    void backendThatCannotBeUsedIsLeftOutAndClientsAreRefused(String keys, String reason) throws IOException {
        Migration migration = read("authentication = { mechanism = password_based, backend = http, " + keys + " }");

        assertThat(migration.settings("new").keySet()).noneMatch(key -> key.startsWith("access.backends"));
        assertThat(migration.settings("new"))
                .containsEntry("access.allow-anonymous", String.valueOf(keys.contains("enable = false")));
        assertThat(migration.notes()).anyMatch(note -> note.contains(reason));
    }

    @ParameterizedTest
    @CsvSource({
        "a/#,a/b,true",
        "a/b,a/c,false",
        "#,$SYS/#,false",
        "+/a,$SYS/a,false",
        "a/+,a/b/c,false",
        "a/#,a,true",
        "%c/x,b/x,true",
        "a,a/b,false"
    })
    void overlapsOfFilters(String one, String two, boolean expected) {
        assertThat(EmqxAcl.overlaps(one, two)).isEqualTo(expected);
        assertThat(EmqxAcl.overlaps(two, one)).isEqualTo(expected);
    }

    @Test
    void fileIsRecognisedByItsContent() throws IOException {
        Path file =
                Files.writeString(directory.resolve("some.conf"), "# EMQX\nlisteners.tcp.default {\n bind = 1883\n}\n");
        Path flat = Files.writeString(directory.resolve("flat.conf"), "mqtt.max_packet_size = 1MB\n");
        Path ours = Files.writeString(directory.resolve("our.yaml"), "listeners: {tcp: {port: 1883}}\n");

        assertThat(Migration.read(file, "f", null).broker()).isEqualTo(OldBroker.emqx);
        assertThat(Migration.read(flat, "f", null).broker()).isEqualTo(OldBroker.emqx);
        assertThat(OldFormat.of(OldFile.read(ours, "f"))).isEqualTo(OldFormat.YAML);
    }

    /** Pieces of the sample are removed, repeated and exchanged: it is read, or refused with the documented error, without a secret. */
    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13})
    void changedFilesAreReadOrRefused(long seed) throws IOException {
        Files.copy(SAMPLES.resolve("acl.conf"), directory.resolve("acl.conf"));
        String sample = Files.readString(SAMPLES.resolve("emqx.conf"));
        Random random = new Random(seed);
        for (int round = 0; round < Integer.getInteger("smqtt.fuzz.rounds", 150); round++) {
            StringBuilder text = new StringBuilder(sample);
            for (int i = 1 + random.nextInt(6); i > 0; i--) {
                change(text, random);
            }
            OldFile file = new OldFile(directory.resolve("f.conf"), "f.conf", text.toString());
            try {
                assertThat(EmqxMapper.map(file).notes())
                        .as("seed %d, round %d", seed, round)
                        .isNotEmpty();
            } catch (ConfigurationException e) {
                assertThat(e.problems())
                        .as("seed %d, round %d", seed, round)
                        .noneMatch(problem -> problem.contains("s3cret"));
            }
        }
    }

    private static void change(StringBuilder text, Random random) {
        int from = random.nextInt(text.length());
        int to = Math.min(text.length(), from + random.nextInt(40));
        String piece = text.substring(from, to);
        switch (random.nextInt(5)) {
            case 0 -> text.delete(from, to);
            case 1 -> text.insert(random.nextInt(text.length()), piece);
            case 2 -> text.setCharAt(from, "{}[]=:,.\"$#\n\\0a".charAt(random.nextInt(15)));
            case 3 -> text.replace(from, to, piece.toUpperCase(java.util.Locale.ROOT));
            default -> text.insert(from, "${" + (random.nextBoolean() ? "site" : "node.name") + "}");
        }
    }

    private Migration read(String text) throws IOException {
        Path file = Files.writeString(directory.resolve("f.conf"), text);
        return Migration.read(file, "f.conf", OldBroker.emqx);
    }

    /** Keeps the samples of several tests apart. */
    @Test
    void settingsAreInAlphabeticalOrder() throws IOException {
        Map<String, String> settings = read("mqtt.max_inflight = 0").settings("new");

        assertThat(List.copyOf(settings.keySet())).isSorted();
        assertThat(settings).containsEntry("limits.max-in-flight", "65535");
    }
}
