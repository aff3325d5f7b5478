// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The files of {@code deploy} for systemd and the kernel. */
class ServiceFilesTest {

    private static final Path DEPLOY = Path.of("..", "deploy");

    @TempDir
    Path directory;

    /** {@code systemd-analyze verify} where there is one; everywhere, that each line is a section or a known kind of assignment. */
    @ParameterizedTest
    @ValueSource(strings = {"100k", "1m"})
    void theServiceIsValidWithEachDropIn(String size) throws Exception {
        String unit = Files.readString(DEPLOY.resolve("systemd/smqtt.service"));
        String dropIn = Files.readString(DEPLOY.resolve("systemd/" + size + ".conf"));
        assertThat((unit + "\n" + dropIn).lines().filter(line -> !line.isBlank() && !line.startsWith("#")))
                .allMatch(line -> line.matches("\\[(Unit|Service|Install)]|[A-Z][A-Za-z]+=\\S.*"));

        Path script = Path.of("..", "bin", "smqtt").toRealPath();
        Path file = Files.writeString(
                directory.resolve("smqtt.service"), unit.replace("/opt/smqtt/bin/smqtt", script.toString()));
        Path dropIns = Files.createDirectory(directory.resolve("smqtt.service.d"));
        Files.writeString(dropIns.resolve(size + ".conf"), dropIn);
        Path verify = Path.of("/usr/bin/systemd-analyze");
        if (Files.isExecutable(verify)) {
            Path output = directory.resolve("verify.log");
            Process process = new ProcessBuilder(verify.toString(), "verify", "--man=no", file.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
            assertThat(Files.readAllLines(output)) // what an older one says of others' units is not ours
                    .noneMatch(line -> line.contains(directory.toString()) && !line.contains("Unknown key name"));
        }
    }

    @Test
    void theServiceLeavesAloneWhatDoesNotGetBetter() throws IOException {
        Map<String, String> unit = assignments("systemd/smqtt.service", "=");

        assertThat(unit.get("RestartPreventExitStatus").split(" "))
                .containsExactly(
                        Integer.toString(ExitCode.USAGE),
                        Integer.toString(ExitCode.BAD_CONFIGURATION),
                        Integer.toString(ExitCode.BAD_DATA));
    }

    @ParameterizedTest
    @CsvSource({"100k,100000", "1m,1000000"})
    void descriptorsSufficeForTheConnections(String size, int connections) throws IOException {
        int inService =
                Integer.parseInt(assignments("systemd/" + size + ".conf", "=").get("LimitNOFILE"));
        Map<String, String> limits = assignments("limits/" + size + ".conf", " nofile ");
        Map<String, String> kernel = assignments("sysctl/" + size + ".conf", " = ");

        assertThat(inService).isGreaterThan(connections + 1000);
        assertThat(limits)
                .containsOnlyKeys("smqtt soft", "smqtt hard")
                .allSatisfy((key, value) -> assertThat(value).isEqualTo(Integer.toString(inService)));
        assertThat(Integer.parseInt(kernel.getOrDefault("fs.nr_open", "1048576")))
                .isGreaterThanOrEqualTo(inService);
        assertThat(Integer.parseInt(kernel.get("-net.netfilter.nf_conntrack_max")))
                .isGreaterThan(connections);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sysctl/100k.conf", "sysctl/1m.conf", "limits/100k.conf", "limits/1m.conf"})
    void everyLineHasItsReason(String file) throws IOException {
        List<String> lines = Files.readAllLines(DEPLOY.resolve(file));
        for (int i = 1; i < lines.size(); i++) {
            if (!lines.get(i).isBlank() && !lines.get(i).startsWith("#")) {
                assertThat(lines.get(i - 1)).as("before %s", lines.get(i)).startsWith("# ");
            }
        }
    }

    /** A misspelt key would be an error at boot; here it has no file below {@code /proc/sys}. */
    @ParameterizedTest
    @ValueSource(strings = {"sysctl/100k.conf", "sysctl/1m.conf"})
    void theKernelKnowsTheKeys(String file) throws IOException {
        Map<String, String> settings = assignments(file, " = ");
        assertThat(settings).allSatisfy((key, value) -> {
            assertThat(key).matches("-?(fs|net|vm)(\\.[a-z0-9_]+)+");
            assertThat(value).matches("\\d+([ ,]\\d+)*");
        });
        // namespaces of containers show a part of them only
        Path kernel = Path.of("/proc/sys");
        if (Files.exists(kernel.resolve("net/core/netdev_max_backlog"))) {
            assertThat(settings.keySet())
                    .filteredOn(key -> !key.startsWith("-"))
                    .allSatisfy(key ->
                            assertThat(kernel.resolve(key.replace('.', '/'))).exists());
        }
    }

    private static Map<String, String> assignments(String file, String separator) throws IOException {
        Map<String, String> values = new LinkedHashMap<>();
        for (String line : Files.readAllLines(DEPLOY.resolve(file))) {
            int at = line.indexOf(separator);
            if (!line.startsWith("#") && at > 0) {
                values.put(
                        line.substring(0, at).trim(),
                        line.substring(at + separator.length()).trim());
            }
        }
        return values;
    }
}
