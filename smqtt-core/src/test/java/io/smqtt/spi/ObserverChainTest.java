// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ObserverChainTest {

    private final List<String> calls = new ArrayList<>();

    static Stream<Method> methods() {
        return Arrays.stream(BrokerObserver.class.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers())
                        && !method.isSynthetic()
                        && method.getReturnType() == void.class);
    }

    private BrokerObserver recording(String name) {
        return recording(name, BrokerObserver.class);
    }

    private <T extends Observer> T recording(String name, Class<T> kind) {
        return kind.cast(Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {kind}, (proxy, method, arguments) -> {
                    calls.add(name + " " + method.getName()
                            + Arrays.toString(arguments == null ? new Object[0] : arguments));
                    return null;
                }));
    }

    private static Object argument(Class<?> type, int position) {
        if (type == String.class) {
            return "text" + position;
        }
        if (type == boolean.class) {
            return true;
        }
        if (type == int.class) {
            return 100 + position;
        }
        if (type == long.class) {
            return 1_000L + position;
        }
        if (type == QoS.class) {
            return QoS.EXACTLY_ONCE;
        }
        if (type == ReasonCode.class) {
            return ReasonCode.BANNED;
        }
        if (type == DropReason.class) {
            return DropReason.EXPIRED;
        }
        if (type == DeliverySource.class) {
            return DeliverySource.REPEATED;
        }
        if (type == BackendOutcome.class) {
            return BackendOutcome.TIMED_OUT;
        }
        if (type == Elsewhere.class) {
            return Elsewhere.MOVED;
        }
        if (type == ClientIdentity.class) {
            return new ClientIdentity(
                    "c", null, InetSocketAddress.createUnresolved("h", 1), "tcp", ProtocolVersion.MQTT_5, Set.of());
        }
        if (type == ConnectRefusal.class) {
            return new ConnectRefusal(
                    "tcp", InetSocketAddress.createUnresolved("h", 1), "c", null, ReasonCode.NOT_AUTHORIZED);
        }
        if (type == StoreFigures.class) {
            return new StoreFigures(true, 1, 2, 3, 4);
        }
        throw new AssertionError("no value for " + type);
    }

    @ParameterizedTest
    @MethodSource("methods")
    void forwardsEveryMethodToEveryMemberInOrder(Method method) throws Exception {
        BrokerObserver chain = BrokerObserver.of(List.of(recording("first"), recording("second")));
        assertThat(chain).isInstanceOf(ObserverChain.class);
        Object[] arguments = new Object[method.getParameterCount()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = argument(method.getParameterTypes()[i], i);
        }

        method.invoke(chain, arguments);
        method.invoke(BrokerObserver.NONE, arguments);

        String expected = method.getName() + Arrays.toString(arguments);
        assertThat(calls).containsExactly("first " + expected, "second " + expected);
    }

    @ParameterizedTest
    @MethodSource("methods")
    void anObserverGetsTheCallsOfItsOwnInterface(Method method) throws Exception {
        List<Observer> members = List.of(
                recording("life", LifecycleObserver.class),
                recording("messages", MessageObserver.class),
                recording("store", StoreObserver.class));
        Object[] arguments = new Object[method.getParameterCount()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = argument(method.getParameterTypes()[i], i);
        }

        method.invoke(BrokerObserver.of(members), arguments);

        Class<?> owner = method.getDeclaringClass();
        String name = owner == LifecycleObserver.class ? "life" : owner == StoreObserver.class ? "store" : "messages";
        assertThat(calls).containsExactly(name + " " + method.getName() + Arrays.toString(arguments));
    }

    @Test
    void oneObserverIsNotWrapped() {
        BrokerObserver only = recording("only");
        assertThat(BrokerObserver.of(List.of(only)) == only).isTrue();
        assertThat(BrokerObserver.of(List.of())).isSameAs(BrokerObserver.NONE);
        assertThat(BrokerObserver.of(List.of(recording("part", StoreObserver.class))))
                .isInstanceOf(ObserverChain.class);
    }
}
