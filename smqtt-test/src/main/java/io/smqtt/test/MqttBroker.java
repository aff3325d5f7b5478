// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a broker for the tests of a class, on a free port of the loopback address. Test methods, and with
 * {@link Lifetime#CLASS} also constructors and {@code @BeforeAll} methods, can take it as a parameter: {@link TestBroker},
 * {@link io.smqtt.Broker}, {@link BrokerClock}, {@link java.net.URI}, {@link java.net.InetSocketAddress},
 * {@link io.smqtt.test.wire.MqttProxy} (a new one each time), and with {@link OfBroker} an {@code int}, its port.
 *
 * <pre>{@code
 * import static org.assertj.core.api.Assertions.assertThat;
 * import io.smqtt.test.MqttBroker;
 * import io.smqtt.test.TestBroker;
 * import org.junit.jupiter.api.Test;
 *
 * @MqttBroker
 * class GatewayTest {
 *
 *     @Test
 *     void reportsItsState(TestBroker broker) {
 *         new Gateway(broker.host(), broker.port()).start();
 *         assertThat(broker).received("gateway/state").withPayload("up");
 *     }
 * }
 * }</pre>
 *
 * <p>The annotation can be repeated; then each broker has a name, and {@link OfBroker} at a parameter tells which one is meant.
 * Classes nested in an annotated class have its brokers too. A broker that cannot start fails the test and says why.
 * Works with JUnit 5.10 and later, and with JUnit 6.
 */
@Documented
@Inherited
@Target({ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Repeatable(MqttBrokers.class)
@ExtendWith(MqttBrokerExtension.class)
public @interface MqttBroker {

    /** The lifetime of a broker. */
    enum Lifetime {
        /** Each test has a broker of its own. */
        METHOD,

        /** All tests of the class share one; what clients left in it, such as sessions and retained messages, stays. */
        CLASS
    }

    /**
     * The name, which tells several brokers apart.
     *
     * @return unique among the brokers of a test
     */
    String value() default "";

    /**
     * How long the broker lives.
     *
     * @return one for each test by default
     */
    Lifetime lifetime() default Lifetime.METHOD;

    /**
     * Configuration as the broker's configuration file has it.
     *
     * @return such as {@code limits.max-packet-bytes=64KiB}
     */
    String[] properties() default {};

    /**
     * The name of a static method of the test class that takes a {@link TestBroker.Builder}, to configure what text cannot say.
     *
     * @return the name; none by default
     */
    String configure() default "";

    /**
     * Whether the clock stands still until {@link BrokerClock#advance} moves it.
     *
     * @return by default it runs like the system's, and can be moved ahead
     */
    boolean standingClock() default false;
}
