// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MosquittoBridgesTest {

    @TempDir
    Path directory;

    @Test
    void connectionsBecomeBridges() throws IOException {
        Migration migration = read(
                "max_queued_messages 5000",
                "connection Cloud.1",
                "addresses cloud.example.com:1884 backup.example.com",
                "topic sensors/# out 1 \"\" plant7/",
                "topic commands/# in 2",
                "topic shared/# both",
                "remote_clientid plant-7",
                "remote_username plant",
                "remote_password s3cret",
                "bridge_protocol_version mqttv50",
                "try_private false",
                "cleansession true",
                "keepalive_interval 30",
                "restart_timeout 5 60",
                "connection second",
                "address 10.0.0.1",
                "topic # out");

        migration.writeAccessFiles(directory, "new", false);

        assertThat(migration.settings("new"))
                .containsEntry("bridges.cloud-1.addresses", "cloud.example.com:1884,backup.example.com:1883")
                .containsEntry("bridges.cloud-1.topics", "sensors/# out 1 \"\" plant7/,commands/# in 2,shared/# both 0")
                .containsEntry("bridges.cloud-1.client-id", "plant-7")
                .containsEntry("bridges.cloud-1.username", "plant")
                .containsEntry("bridges.cloud-1.password-file", "new.bridge-cloud-1.password")
                .containsEntry("bridges.cloud-1.version", "5")
                .containsEntry("bridges.cloud-1.try-private", "false")
                .containsEntry("bridges.cloud-1.clean-start", "true")
                .containsEntry("bridges.cloud-1.keep-alive", "30s")
                .containsEntry("bridges.cloud-1.min-delay", "5s")
                .containsEntry("bridges.cloud-1.max-delay", "60s")
                .containsEntry("bridges.cloud-1.max-queued-messages", "5000")
                .containsEntry("bridges.second.version", "3.1.1")
                .containsEntry("bridges.second.topics", "# out 0");
        assertThat(directory.resolve("new.bridge-cloud-1.password")).hasContent("s3cret");
        assertThat(Files.getPosixFilePermissions(directory.resolve("new.bridge-cloud-1.password")))
                .hasSize(2);
        assertThat(migration.notes()).noneMatch(note -> note.contains("s3cret"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "# | # out 0",
                "a/b in | a/b in 0",
                "a/+ both 2 x/ y/ | a/+ both 2 x/ y/",
                "a/+ OUT 1 x/ | a/+ out 1 x/ \"\"",
                "\"\" out 1 local/state remote/state | local/state out 1 => remote/state",
                "\"\" in 0 here there | there in 0 => here",
                "\"\" both 1 a b | a out 1 => b,b in 1 => a",
            })
    void formsOfTopics(String theirs, String ours) throws IOException {
        assertThat(read("connection c", "address h", "topic " + theirs).settings("new"))
                .containsEntry("bridges.c.topics", ours);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "\"\" out 1 local/# remote | 3: topic: not migrated; bridges.<name>.topics: cannot be written",
                "a sideways | 3: topic: not migrated",
                "a/#/b out | 3: topic: not migrated",
                "a out 3 | 3: topic: not migrated",
                "a,b out 1 | 3: topic: not migrated",
            })
    void topicThatCannotBeWrittenIsReportedAndABridgeWithoutTopicsIsLeftOut(String topic, String note)
            throws IOException {
        Migration migration = read("connection c", "address h", "topic " + topic);

        assertThat(migration.notes()).anyMatch(line -> line.startsWith("m.conf:" + note));
        assertThat(migration.notes()).anyMatch(line -> line.startsWith("m.conf:1: connection: not migrated"));
        assertThat(migration.settings("new").keySet()).noneMatch(key -> key.startsWith("bridges."));
    }

    @Test
    void tlsStaysTls() throws IOException {
        Migration migration = read(
                "connection c",
                "address h:8883",
                "topic # out",
                "bridge_cafile ca.pem",
                "bridge_certfile c.pem",
                "bridge_keyfile k.pem",
                "bridge_alpn mqtt",
                "bridge_insecure true");

        assertThat(migration.settings("new"))
                .containsEntry("bridges.c.addresses", "mqtts://h:8883")
                .containsEntry("bridges.c.tls.ca", directory.resolve("ca.pem").toString())
                .containsEntry(
                        "bridges.c.tls.certificate", directory.resolve("c.pem").toString())
                .containsEntry("bridges.c.tls.key", directory.resolve("k.pem").toString())
                .containsEntry("bridges.c.tls.alpn", "mqtt")
                .containsEntry("bridges.c.tls.verify-host", "false")
                .doesNotContainKey("bridges.c.enabled");
    }

    @ParameterizedTest
    @ValueSource(strings = {"bridge_capath certs", "bridge_psk 00"})
    void withoutWhatSecuredTheConnectionNothingIsSent(String line) throws IOException {
        Migration migration = read("connection c", "address h", "topic # out", line);

        assertThat(migration.settings("new")).containsEntry("bridges.c.enabled", "false");
        assertThat(migration.notes())
                .anyMatch(note -> note.startsWith("m.conf:4: " + line.split(" ")[0] + ": not migrated"));
    }

    @ParameterizedTest
    @CsvSource({
        "start_type manual,start,manual",
        "start_type lazy,start,lazy",
        "start_type once,start,once",
        "threshold 0,threshold,1",
        "threshold 50,threshold,50",
        "idle_timeout 90,idle-timeout,90s",
        "local_username plant,local-user,plant",
        "notification_topic state/of/c,notification-topic,state/of/c",
        "round_robin false,round-robin,false",
        "notifications false,notifications,none",
        "notifications_local_only true,notifications,local",
        "round_robin true,notifications,both",
        "bridge_max_packet_size 1000,max-packet-bytes,1000",
        "bridge_receive_maximum 7,receive-maximum,7",
        "bridge_session_expiry_interval 3600,session-expiry,3600s",
        "bridge_tcp_keepalive 60 10 4,tcp-keep-alive-idle,60s",
        "bridge_tcp_keepalive 60 10 4,tcp-keep-alive-interval,10s",
        "bridge_tcp_keepalive 60 10 4,tcp-keep-alive-count,4",
        "bridge_tcp_user_timeout 30000,tcp-user-timeout,30000ms",
        "queue_qos0_messages true,queue-qos0,true",
        "bridge_outgoing_retain false,outgoing-retain,false",
        "bridge_bind_address 10.0.0.7,bind-address,10.0.0.7",
        "bridge_bind_address fd00::7,bind-address,fd00::7"
    })
    void optionsOfBridges(String line, String key, String value) throws IOException {
        assertThat(read("connection c", "address h", "topic # out", line).settings("new"))
                .containsEntry("bridges.c." + key, value);
    }

    @Test
    void aDirectoryWithAFileOfAllAuthorities() throws IOException {
        Path file = Files.writeString(
                Files.createDirectory(directory.resolve("certs")).resolve("ca-certificates.crt"), "");
        Migration migration = read("connection c", "address h", "topic #", "bridge_capath certs");

        assertThat(migration.settings("new"))
                .containsEntry("bridges.c.tls.ca", file.toString())
                .containsEntry("bridges.c.addresses", "mqtts://h:1883")
                .doesNotContainKey("bridges.c.enabled");
        assertThat(migration.notes()).noneMatch(note -> note.contains("bridge_capath"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "none",
            value = {
                "bridge_tls_version tlsv1.3 | min-version | 1.3",
                "bridge_tls_version tlsv1.2 | min-version | 1.2",
                "bridge_tls_version tlsv1.1 | min-version | 1.2",
                "bridge_ciphers ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-SHA256 | ciphers | TLS_AES_256_GCM_SHA384,TLS_CHACHA20_POLY1305_SHA256,TLS_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_DHE_RSA_WITH_AES_256_CBC_SHA256",
                "bridge_ciphers HIGH:!aNULL | ciphers | none"
            })
    void versionsAndSuitesOfTls(String line, String key, @Nullable String value) throws IOException {
        Migration secure = read("connection c", "address h", "topic #", "bridge_cafile ca.pem", line);
        Migration plain = read("connection c", "address h", "topic #", line);

        assertThat(secure.settings("new").get("bridges.c.tls." + key)).isEqualTo(value);
        assertThat(plain.settings("new").keySet()).noneMatch(name -> name.startsWith("bridges.c.tls"));
    }

    @Test
    void onlySuitesOfTls13() throws IOException {
        assertThat(read(
                                "connection c",
                                "address h",
                                "topic #",
                                "bridge_cafile ca.pem",
                                "bridge_ciphers_tls1.3 TLS_AES_128_GCM_SHA256")
                        .settings("new")
                        .get("bridges.c.tls.ciphers"))
                .startsWith("TLS_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,")
                .doesNotContain("TLS_AES_256_GCM_SHA384,TLS_CHACHA");
    }

    @Test
    void suitesThatAreNotKnownAreReported() throws IOException {
        assertThat(read(
                                "connection c",
                                "address h",
                                "topic #",
                                "bridge_cafile ca.pem",
                                "bridge_ciphers HIGH:ECDHE-ECDSA-AES256-CCM")
                        .notes())
                .contains(
                        "m.conf:5: bridge_ciphers: not migrated; bridges.c.tls.ciphers: the Java runtime has no suite HIGH",
                        "m.conf:5: bridge_ciphers: not migrated; bridges.c.tls.ciphers: the Java runtime has no suite"
                                + " ECDHE-ECDSA-AES256-CCM");
    }

    @Test
    void aLazyBridgeHasNoTopicsThatComeIn() throws IOException {
        Migration migration = read("connection c", "address h", "start_type lazy", "topic a in 1");

        assertThat(migration.settings("new")).containsEntry("bridges.c.start", "automatic");
        assertThat(migration.notes())
                .contains(
                        "m.conf:3: start_type: differs; bridges.c.start: a lazy bridge has no topics that come in, so it"
                                + " connects at once");
    }

    @Test
    void withSeveralAddressesTheFirstOneIsTheMainOne() throws IOException {
        assertThat(read("connection c", "address h i", "topic #").settings("new"))
                .containsEntry("bridges.c.round-robin", "false");
        assertThat(read("connection c", "address h i", "topic #", "round_robin true")
                        .settings("new"))
                .containsEntry("bridges.c.round-robin", "true");
        assertThat(read("connection c", "address h", "topic #").settings("new"))
                .doesNotContainKey("bridges.c.round-robin");
    }

    @Test
    void theTimeOfAStableConnectionIsReported() throws IOException {
        assertThat(read("connection c", "address h", "topic #", "restart_timeout 1 20 60")
                        .notes())
                .contains("m.conf:4: restart_timeout: differs; bridges.c.min-delay: the delay begins anew after 30 s of"
                        + " connection");
    }

    @Test
    void aNameOfThisMachineIsNoAddress() throws IOException {
        Migration migration = read("connection c", "address h", "topic # out", "bridge_bind_address eth0.example");

        assertThat(migration.settings("new")).doesNotContainKey("bridges.c.bind-address");
        assertThat(migration.notes())
                .contains("m.conf:4: bridge_bind_address: not migrated; bridges.c.bind-address: must be an IP address");
    }

    private Migration read(String... lines) throws IOException {
        Path file = Files.writeString(directory.resolve("m.conf"), String.join("\n", lines) + "\n");
        return Migration.read(file, "m.conf", OldBroker.mosquitto);
    }
}
