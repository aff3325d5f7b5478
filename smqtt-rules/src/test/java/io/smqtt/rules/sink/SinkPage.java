// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The tables of keys on the page of rules; written with {@code -Dsmqtt.docs.write=true}. */
public final class SinkPage {

    private static final Path PAGE = Path.of("..", "docs", "rules.md");

    private SinkPage() {}

    /** Fails unless the page has the keys of all types as they are declared. */
    public static void assertHasKeysOf(Collection<SinkFactory> factories) throws IOException {
        for (SinkFactory factory : factories) {
            assertHasKeys(factory.type(), factory.settings());
        }
    }

    /** Fails unless the page has keys as they are declared, behind the comment {@code keys of NAME}. */
    public static void assertHasKeys(String name, List<SinkSetting> settings) throws IOException {
        String page = Files.readString(PAGE);
        Pattern table = Pattern.compile("(?<=<!-- keys of " + name + " -->\n\n)(\\|.*\n)*");
        Matcher found = table.matcher(page);
        assertThat(found.find()).as("the place of the keys of " + name).isTrue();
        String expected = found.replaceFirst(Matcher.quoteReplacement(table(settings)));
        if (Boolean.getBoolean("smqtt.docs.write")) {
            Files.writeString(PAGE, expected);
        } else {
            assertThat(page).isEqualTo(expected);
        }
    }

    private static String table(List<SinkSetting> settings) {
        StringBuilder table = new StringBuilder("| key | default | what it is |\n|---|---|---|\n");
        for (SinkSetting setting : settings) {
            String bounds = setting.min().isEmpty() ? "" : " (" + setting.min() + " to " + setting.max() + ")";
            String name = setting.kind() == SinkSetting.Kind.ENTRIES ? setting.name() + ".<name>" : setting.name();
            table.append("| `")
                    .append(name)
                    .append("` | ")
                    .append(shown(setting))
                    .append(" | ");
            table.append(setting.text()).append(bounds).append(" |\n");
        }
        return table.toString();
    }

    private static String shown(SinkSetting setting) {
        return setting.isRequired() ? "required" : setting.value() == null ? "none" : '`' + setting.value() + '`';
    }
}
