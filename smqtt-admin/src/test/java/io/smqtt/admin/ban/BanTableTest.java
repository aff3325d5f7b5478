// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.ban;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What bans compare, and for how long. */
class BanTableTest {

    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private final AtomicReference<Instant> now = new AtomicReference<>(NOW);
    private final BanTable table = new BanTable(now::get);

    private static Ban ban(BanKind as, String who, @Nullable Instant until) {
        return new Ban(as, as.checked(who), "me", "", NOW, until);
    }

    private boolean isBanned(String clientId, @Nullable String userName, String address) {
        return table.isBanned(clientId, userName, new InetSocketAddress(address, 1883));
    }

    @ParameterizedTest
    @CsvSource({
        "clientid, c1",
        "username, anna",
        "peerhost, 10.1.2.3",
        "peerhost, ::ffff:10.1.2.3",
        "clientid_re, ^c[0-9]$",
        "username_re, nn",
        "peerhost_net, 10.0.0.0/8"
    })
    void eachKindComparesItsOwnField(String as, String who) {
        Ban ban = ban(BanKind.of(as), who, null);
        assertThat(isBanned("c1", "anna", "10.1.2.3")).isFalse();
        table.put(ban);
        assertThat(isBanned("c1", "anna", "10.1.2.3")).isTrue();
        assertThat(isBanned("d", "bob", "11.1.2.3")).isFalse();
        assertThat(isBanned("d", null, "2001:db8::1")).isFalse();
        table.remove(ban.as(), ban.who());
        assertThat(isBanned("c1", "anna", "10.1.2.3")).isFalse();
    }

    @Test
    void aBanEndsByItself() {
        table.put(ban(BanKind.CLIENTID, "c1", NOW.plusSeconds(10)));
        table.put(ban(BanKind.CLIENTID_RE, "^d", NOW.plusSeconds(10)));
        now.set(NOW.plusSeconds(9));
        assertThat(isBanned("c1", null, "10.1.2.3")).isTrue();
        assertThat(isBanned("d1", null, "10.1.2.3")).isTrue();
        now.set(NOW.plusSeconds(10));
        assertThat(isBanned("c1", null, "10.1.2.3")).isFalse();
        assertThat(isBanned("d1", null, "10.1.2.3")).isFalse();
    }

    @Test
    void addressesHaveOneForm() {
        assertThat(BanKind.PEERHOST.checked("2001:DB8:0:0:0:0:0:1")).isEqualTo("2001:db8::1");
        assertThat(BanKind.PEERHOST.checked("::ffff:10.0.0.1")).isEqualTo("10.0.0.1");
        assertThat(BanKind.PEERHOST_NET.checked("10.1.2.3/8")).isEqualTo("10.0.0.0/8");
    }

    @Test
    @Timeout(10)
    void noTextMakesAPatternLast() {
        for (String pattern : new String[] {"(a+)+$", "(a|aa)*b", "(.*)*x", "(a*)*(b*)*(c*)*d", "(x+x+)+y"}) {
            table.put(ban(BanKind.CLIENTID_RE, pattern, null));
        }
        assertThat(isBanned("a".repeat(65_535) + '!', null, "10.1.2.3")).isTrue(); // (a+)+$ sees 512 characters
        long start = System.nanoTime();
        for (int i = 0; i < 100; i++) {
            assertThat(isBanned("q" + "ax".repeat(30_000) + '!', null, "10.1.2.3"))
                    .isTrue(); // (.*)*x
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"(", "(a)\\1", "(?=a)", "a{2}{1000}{1000}", "((a{999}){999}){9}", "a{99999999999999999999}"})
    void patternsThatTakeMoreThanLinearTimeOrMuchMemoryAreRefused(String pattern) {
        assertThatThrownBy(() -> BanKind.CLIENTID_RE.checked(pattern)).isInstanceOf(InvalidFieldException.class);
    }

    @Test
    void longPatternsAreRefused() {
        assertThatThrownBy(() -> BanKind.USERNAME_RE.checked("a".repeat(257)))
                .isInstanceOf(InvalidFieldException.class);
        assertThat(BanKind.USERNAME_RE.checked("a{1,8}")).isEqualTo("a{1,8}");
    }

    @ParameterizedTest
    @CsvSource({"peerhost, localhost", "peerhost, 10.0.0.0/8", "peerhost_net, 10.0.0.0/33", "clientid, ''"})
    void whatIsNoneOfItsKindIsRefused(String as, String who) {
        assertThatThrownBy(() -> BanKind.of(as).checked(who)).isInstanceOf(InvalidFieldException.class);
    }

    @Test
    void timesAreReadAsTextAndAsSeconds() {
        Ban ban = BanFormat.read(
                JsonFields.parse(
                        "{\"as\":\"clientid\",\"who\":\"c\",\"at\":\"2030-01-01T01:00:00+01:00\",\"until\":1893456010}"),
                "me",
                Instant.EPOCH);
        assertThat(ban).isEqualTo(ban(BanKind.CLIENTID, "c", NOW.plusSeconds(10)));
        assertThat(new BanFormat().read("clientid:c", JsonFields.of(BanFormat.fields(ban))))
                .isEqualTo(ban);
    }
}
