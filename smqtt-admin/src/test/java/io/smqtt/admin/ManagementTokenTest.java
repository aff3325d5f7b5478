// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.StorageConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class ManagementTokenTest {

    private static final String TEXT = "0123456789abcdef-secret";

    @TempDir
    Path directory;

    private ManagementToken onDisk() {
        return ManagementToken.of(BrokerConfig.builder()
                .storage(StorageConfig.builder()
                        .kind(StorageConfig.Kind.ROCKSDB)
                        .dir(directory)
                        .build())
                .build());
    }

    private static ManagementToken given(Path file) {
        return ManagementToken.of(BrokerConfig.builder()
                .management(ManagementConfig.builder().tokenFile(file).build())
                .build());
    }

    @Test
    void oneIsMadeForTheOwnerAloneAndStaysTheSame() throws IOException {
        ManagementToken token = onDisk();
        assertThat(token.exists()).isFalse();
        token.prepare();

        Path file = directory.resolve("management.token");
        String text = Files.readString(file).strip();
        assertThat(text).hasSize(64);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(token.accepts("Bearer " + text)).isTrue();
        assertThat(token.accepts("bearer  " + text)).isTrue();
        assertThat(token.accepts("Bearer " + text.substring(1))).isFalse();
        assertThat(token.accepts("Basic " + text)).isFalse();
        assertThat(token.accepts(null)).isFalse();

        ManagementToken next = onDisk();
        next.prepare();
        assertThat(next.accepts("Bearer " + text)).isTrue();
    }

    @Test
    void noneIsMadeWithoutADataDirectoryOrBesideOneThatIsGiven() throws IOException {
        Path file = Files.writeString(directory.resolve("given"), TEXT);
        ManagementToken given = ManagementToken.of(BrokerConfig.builder()
                .storage(StorageConfig.builder()
                        .kind(StorageConfig.Kind.ROCKSDB)
                        .dir(directory)
                        .build())
                .management(ManagementConfig.builder().tokenFile(file).build())
                .build());
        given.prepare();
        ManagementToken inMemory = ManagementToken.of(BrokerConfig.builder()
                .storage(StorageConfig.builder().dir(directory).build())
                .build());
        inMemory.prepare();

        assertThat(inMemory.exists()).isFalse();
        assertThat(inMemory.accepts("Bearer ")).isFalse();
        assertThat(inMemory.reload()).isNull();
        assertThat(directory).isDirectoryNotContaining("glob:**management.token");
    }

    @Test
    void oneThatACrashLeftEmptyIsMadeAgain() throws IOException {
        Path file = Files.createFile(directory.resolve("management.token"));
        ManagementToken token = onDisk();

        token.prepare();

        String made = Files.readString(file).strip();
        assertThat(made).hasSizeGreaterThan(16);
        assertThat(token.accepts("Bearer " + made)).isTrue();
        assertThat(directory).isDirectoryNotContaining("glob:**.new");
    }

    @Test
    void whereNoneCanBeMadeTheKeyIsNamed() throws IOException {
        Files.createDirectory(directory.resolve("management.token"));

        assertThatThrownBy(() -> onDisk().prepare())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("management.token-file");
    }

    @Test
    void aReloadTakesTheNewOneAndKeepsTheOldOneIfThatCannotBeUsed() throws IOException {
        Path file = Files.writeString(directory.resolve("given"), TEXT);
        ManagementToken token = given(file);

        Files.writeString(file, "another-secret-of-16\n");
        assertThat(token.accepts("Bearer " + TEXT)).isTrue();
        assertThat(token.reload()).isEqualTo(file);
        assertThat(token.accepts("Bearer " + TEXT)).isFalse();
        assertThat(token.accepts("Bearer another-secret-of-16")).isTrue();

        Files.writeString(file, "short\n");
        assertThatThrownBy(token::reload).isInstanceOf(ConfigurationException.class);
        assertThat(token.accepts("Bearer another-secret-of-16")).isTrue();
    }

    @Test
    void lookingIsFreeWithoutATokenFileAndByAddressOnly() throws IOException {
        ManagementToken none = onDisk();
        assertThat(none.lookingIsFree("127.0.0.1:18083")).isTrue();
        assertThat(none.lookingIsFree("LocalHost")).isTrue();
        assertThat(none.lookingIsFree("localhost:1")).isTrue();
        assertThat(none.lookingIsFree("[::1]:18083")).isTrue();
        assertThat(none.lookingIsFree(null)).isTrue();
        assertThat(none.lookingIsFree("evil.example:18083")).isFalse();
        assertThat(none.lookingIsFree("127.0.0.1.evil.example")).isFalse();
        assertThat(none.lookingIsFree("")).isFalse();

        ManagementToken given = given(Files.writeString(directory.resolve("given"), TEXT));
        assertThat(given.lookingIsFree("127.0.0.1:18083")).isFalse();
    }

    @Test
    void aTokenFileThatOthersCanReadIsWarnedOf() throws IOException {
        Path file = Files.writeString(directory.resolve("token"), TEXT);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        Logger log = (Logger) LoggerFactory.getLogger(ManagementToken.class);
        ListAppender<ILoggingEvent> told = new ListAppender<>();
        told.start();
        log.addAppender(told);
        try {
            ManagementToken read = given(file);
            assertThat(told.list)
                    .singleElement()
                    .satisfies(event -> assertThat(event.getFormattedMessage())
                            .contains(file.toString(), "can be read by every user"));
            read.reload();
            assertThat(told.list).hasSize(2);

            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            read.reload();
            assertThat(told.list).hasSize(2);
        } finally {
            log.detachAppender(told);
        }
    }
}
