// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class TagScannerTest {

    @Test
    void findsTagsAboveInsideAndInTheNameOfATest() {
        String source = """
                package p;
                /** Connecting. */
                final class ConnectTest {
                    // [MQTT-3.1.0-1]
                    @Test
                    @DisplayName("second CONNECT [MQTT-3.1.0-2]")
                    void firstPacket() throws IOException {
                        check(() -> {
                            run(); // [MQTT311-3.1.0-1]
                        });
                    }
                }
                """;

        assertThat(proofs(source))
                .containsExactlyInAnyOrder(
                        "MQTT-3.1.0-1 ConnectTest.firstPacket",
                        "MQTT-3.1.0-2 ConnectTest.firstPacket",
                        "MQTT311-3.1.0-1 ConnectTest.firstPacket");
    }

    @Test
    void namesNestedClassesAndParameterizedTests() {
        String source = """
                class WillTest {
                    @Nested
                    class Delay {
                        /** [MQTT-3.1.3-9] */
                        @ParameterizedTest(name = "{0}")
                        @ValueSource(ints = {1, 2})
                        void cancelsOn(int qos) {}
                    }
                }
                """;

        assertThat(proofs(source)).containsExactly("MQTT-3.1.3-9 WillTest.Delay.cancelsOn");
    }

    @Test
    void countsNothingOutsideTests() {
        String source = """
                // [MQTT-1.1.1-1]
                class HelperTest {
                    int quota = 1; // [MQTT-1.1.1-2]
                    int[] table = {1}; // [MQTT-1.1.1-3]
                    @Test
                    void works() {}

                    // [MQTT-1.1.1-4]
                    static void helper() {
                        // [MQTT-1.1.1-5]
                    }
                    @Disabled
                    @Test
                    void off() {
                        // [MQTT-1.1.1-6]
                    }
                    // [MQTT-1.1.1-7]
                }
                """;

        assertThat(proofs(source)).isEmpty();
        assertThat(TagScanner.scan(source, "F.java")).hasSize(7);
    }

    @Test
    void isNotConfusedByBracesAndQuotesInLiterals() {
        String source = """
                class LiteralTest {
                    String open = "{ \\" // not a comment";
                    char quote = '"';
                    char brace = '{';

                    // [MQTT-2.1.3-1]
                    @Test
                    void works() {
                        String s = "}";
                    }
                }
                """;

        assertThat(proofs(source)).containsExactly("MQTT-2.1.3-1 LiteralTest.works");
    }

    @Test
    void tellsFileAndLine() {
        List<SourceTag> tags = TagScanner.scan("class A {\n  /* one\n   * [MQTT-9.9.9-9] */ int x;\n}\n", "A.java");

        assertThat(tags).containsExactly(new SourceTag("MQTT-9.9.9-9", "A.java:3", ""));
    }

    private static List<String> proofs(String source) {
        return TagScanner.scan(source, "F.java").stream()
                .filter(SourceTag::isProof)
                .map(tag -> tag.tag() + " " + tag.test())
                .toList();
    }
}
