// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PasswordFileTest {

    private static final byte[] SECRET = "secret".getBytes(StandardCharsets.UTF_8);
    private static final String HASH =
            "$6$tfZGdDJ9+ICAop4h$xaHvPs8sQdS2GoHvuSB3mIf63HYAUedzeRrNfpM0HPfyjeBp7t2v8N1+O7OfpMTuIOLsFyBgWZSM5/L3vd/XOg==";

    @TempDir
    private Path directory;

    private Path file;

    @BeforeEach
    void nameTheFile() {
        file = directory.resolve("passwords");
    }

    @Test
    void everyMalformedLineIsNamedAtOnce() throws IOException {
        Files.writeString(file, "nothing\n# comment\nanna:in the clear\n");

        assertThatThrownBy(() -> PasswordFile.read(file))
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        refused -> assertThat(refused.problems())
                                .satisfiesExactly(
                                        first ->
                                                assertThat(first).startsWith(file + ":1: is not of the form user:hash"),
                                        second -> assertThat(second)
                                                .startsWith(file + ":3: ")
                                                .doesNotContain("clear")));
    }

    @Test
    void whatIsWrittenIsRead() throws IOException {
        PasswordFile written = PasswordFile.empty();
        written.set("alice", SECRET, PasswordFile.Kind.PBKDF2_SHA_512, 50);
        written.set("bob smith", SECRET, PasswordFile.Kind.SCRAM_SHA_256, 4_096);
        written.write(file);

        PasswordFile read = PasswordFile.read(file);

        assertThat(read.userNames()).containsExactly("alice", "bob smith");
        assertThat(Files.readString(file))
                .matches(
                        "alice:\\$7\\$50\\$[^$]+\\$[^$]+\nbob smith:\\$scram-sha-256\\$4096\\$[^$]+\\$[^$]+\\$[^$]+\n");
        assertThat(read.table().find("alice").matches(SECRET)).isTrue();
        assertThat(read.table().find("bob smith").matches(SECRET)).isTrue();
        assertThat(read.warnings()).isEmpty();
    }

    @Test
    void newHashesCostTheDefaultWork() {
        PasswordFile users = PasswordFile.empty();
        users.set("alice", SECRET);

        assertThat(users.table().find("alice"))
                .isInstanceOfSatisfying(
                        PasswordHash.Pbkdf2Sha512.class,
                        hash -> assertThat(hash.iterations()).isEqualTo(PasswordFile.DEFAULT_ITERATIONS));
    }

    @Test
    void usersCanBeChangedAndDeletedAndOthersStay() throws IOException {
        Files.writeString(file, "# staff\nalice:" + HASH + "\n\nbob:" + HASH + "\r\n");
        PasswordFile users = PasswordFile.read(file);

        users.set("alice", SECRET, PasswordFile.Kind.PBKDF2_SHA_512, 5);
        assertThat(users.delete("carol")).isFalse();
        users.write(file);
        assertThat(Files.readString(file)).startsWith("# staff\nalice:$7$5$").endsWith("\nbob:" + HASH + "\n");

        assertThat(users.delete("alice")).isTrue();
        users.write(file);
        assertThat(Files.readString(file)).isEqualTo("# staff\nbob:" + HASH + "\n");
    }

    @Test
    void theFileIsReplacedAsAWholeAndOnlyItsOwnerCanReadIt() throws IOException {
        Files.writeString(file, "alice:" + HASH + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);
        Object before = Files.getAttribute(file, "unix:ino");

        PasswordFile.read(link).write(link);

        assertThat(Files.isSymbolicLink(link)).isTrue();
        assertThat(Files.getAttribute(file, "unix:ino")).isNotEqualTo(before);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).containsExactlyInAnyOrder(file, link);
        }
    }

    @Test
    void aFileThatCannotBeWrittenLeavesNothingBehind() throws IOException {
        Path occupied = Files.createDirectories(directory.resolve("occupied/by"));

        assertThatThrownBy(() -> PasswordFile.empty().write(occupied.getParent()))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> PasswordFile.empty().write(directory.resolve("missing/file")))
                .isInstanceOf(IOException.class);

        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).containsExactly(occupied.getParent());
        }
    }

    @Test
    void manyUsersCanBeTakenFromAFileOfPlainPasswords() throws IOException {
        Files.writeString(file, "# import\nalice:secret\nbob: with:colon \n\n");

        PasswordFile users = PasswordFile.readPlain(file, PasswordFile.Kind.PBKDF2_SHA_512, 5);

        assertThat(users.userNames()).containsExactly("alice", "bob");
        assertThat(users.table().find("alice").matches(SECRET)).isTrue();
        assertThat(users.table().find("bob").matches(" with:colon ".getBytes(StandardCharsets.UTF_8)))
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({"alice, user:password", "alice:, empty", "alice:x\\nalice:y, already in the file", ":x, user:password"})
    void aPlainFileWithAMistakeIsNotTaken(String text, String complaint) throws IOException {
        Files.writeString(file, text.replace("\\n", "\n"));

        assertThatThrownBy(() -> PasswordFile.readPlain(file, PasswordFile.Kind.PBKDF2_SHA_512, 5))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith(file + ":")
                .hasMessageContaining(complaint);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " a", "a ", "#a", "a:b", "a\nb", "a\0"})
    void aUserNameMustFitIntoALine(String userName) {
        assertThatThrownBy(() -> PasswordFile.empty().set(userName, SECRET))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aPasswordMustBeOneThatAClientCanLogInWith() {
        PasswordFile users = PasswordFile.empty();

        for (byte[] password : new byte[][] {{}, new byte[1], new byte[1_025], {'a', 0}}) {
            assertThatThrownBy(() -> users.set("alice", password)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> users.set("alice", new byte[] {7}, PasswordFile.Kind.SCRAM_SHA_256, 4_096))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> users.set("a\u00ADb", SECRET, PasswordFile.Kind.SCRAM_SHA_256, 4_096))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> users.set("alice", SECRET, PasswordFile.Kind.SCRAM_SHA_256, 4_095))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> users.set("alice", SECRET, PasswordFile.Kind.PBKDF2_SHA_512, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(users.userNames()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "alice, user:hash",
        "alice:secret, no hash",
        "alice:$5$x$y, '5'",
        "bob:HASH, already in the file",
        "a\tb:HASH, user name",
    })
    void aMalformedLineIsNamed(String line, String complaint) throws IOException {
        Files.writeString(file, "# staff\nbob:" + HASH + "\n" + line.replace("HASH", HASH) + "\n");

        assertThatThrownBy(() -> PasswordFile.read(file))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith(file + ":3: ")
                .hasMessageContaining(complaint)
                .hasMessageNotContaining("xaHvPs8s");
    }

    @Test
    void aMissingFileIsAnErrorAndAnEmptyOneAWarning() throws IOException {
        assertThatThrownBy(() -> PasswordFile.read(file))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(file.toString());
        Files.writeString(file, "# nobody\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));

        assertThat(PasswordFile.read(file).warnings())
                .satisfiesExactly(
                        empty -> assertThat(empty).contains("no user"),
                        open -> assertThat(open).contains("chmod"));
    }

    @Test
    void anyBytesGiveUsersOrAComplaint() throws IOException {
        Random random = new Random(20_260_715);
        String[] pieces = {"a", ":", "$", "6", "7", "scram-sha-256", "4096", HASH, "\n", "#", "AAAA", "==", "\0"};
        int valid = 0;
        for (int i = 0; i < 3_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int j = random.nextInt(10); j >= 0; j--) {
                text.append(pieces[random.nextInt(pieces.length)]);
            }
            byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
            if (random.nextInt(10) == 0) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            Files.write(file, bytes);
            try {
                valid += PasswordFile.read(file).userNames().size() + 1;
            } catch (ConfigurationException e) {
                assertThat(e).hasMessageStartingWith(file.toString());
            }
        }
        assertThat(valid).isPositive();
    }
}
