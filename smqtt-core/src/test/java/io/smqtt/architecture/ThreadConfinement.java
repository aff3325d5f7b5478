// SPDX-License-Identifier: Apache-2.0
package io.smqtt.architecture;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAnnotation;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import io.smqtt.thread.AnyThread;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds direct calls that leave the thread on which a method must be called: from a method for any thread to a confined one, and from
 * one thread to another. A task given to an executor is a lambda, and what a lambda calls is not looked at.
 *
 * <p>A method has the annotation that it bears, else that of its type if it is neither static nor private. A private method without
 * one runs on the threads of the methods that call it.
 */
public final class ThreadConfinement {

    /** Annotations that confine a method to one thread are called so. */
    private static final Pattern CONFINED = Pattern.compile("On[A-Z]\\w*(Loop|Thread)");

    private static final String ANY = AnyThread.class.getSimpleName();

    private ThreadConfinement() {}

    /**
     * Finds wrong calls.
     *
     * @param classes the classes to look at
     * @return one line for each, sorted; empty if there is none
     */
    public static List<String> violations(Iterable<JavaClass> classes) {
        List<String> found = new ArrayList<>();
        for (JavaClass type : classes) {
            for (JavaMethod method : type.getMethods()) {
                threadOf(method).ifPresent(thread -> follow(method, thread, found));
            }
        }
        return found.stream().distinct().sorted().toList();
    }

    /**
     * Counts what is annotated, so that a test can tell that it has looked at something.
     *
     * @param classes the classes to look at
     * @return methods whose thread is known
     */
    public static long annotated(Iterable<JavaClass> classes) {
        long count = 0;
        for (JavaClass type : classes) {
            count += type.getMethods().stream()
                    .filter(method -> threadOf(method).isPresent())
                    .count();
        }
        return count;
    }

    private static void follow(JavaMethod start, String thread, List<String> found) {
        Set<JavaCodeUnit> seen = new HashSet<>();
        Deque<JavaCodeUnit> open = new ArrayDeque<>();
        seen.add(start);
        open.add(start);
        while (!open.isEmpty()) {
            JavaCodeUnit caller = open.remove();
            for (JavaMethodCall call : caller.getMethodCallsFromSelf()) {
                Optional<JavaMethod> callee = call.getTarget().resolveMember();
                if (call.isDeclaredInLambda() || callee.isEmpty()) {
                    continue;
                }
                Optional<String> other = threadOf(callee.get());
                if (other.isPresent()) {
                    if (!other.get().equals(ANY) && !other.get().equals(thread)) {
                        found.add("@" + thread + " " + start.getFullName() + " reaches @" + other.get() + ": "
                                + call.getDescription());
                    }
                } else if (isOwnHelper(call.getTarget(), callee.get(), start) && seen.add(callee.get())) {
                    open.add(callee.get());
                }
            }
        }
    }

    private static boolean isOwnHelper(AccessTarget target, JavaMember callee, JavaMethod start) {
        return target.getOwner().equals(start.getOwner())
                && callee.getModifiers().contains(JavaModifier.PRIVATE);
    }

    private static Optional<String> threadOf(JavaMethod method) {
        Optional<String> own = threadOf(method.getAnnotations());
        if (own.isPresent()) {
            return own;
        }
        Set<JavaModifier> modifiers = method.getModifiers();
        boolean inherits = Stream.of(JavaModifier.PRIVATE, JavaModifier.STATIC, JavaModifier.SYNTHETIC)
                .noneMatch(modifiers::contains);
        return inherits ? threadOf(method.getOwner().getAnnotations()) : Optional.empty();
    }

    private static Optional<String> threadOf(Collection<? extends JavaAnnotation<?>> annotations) {
        return annotations.stream()
                .map(annotation -> annotation.getRawType().getSimpleName())
                .filter(name -> name.equals(ANY) || CONFINED.matcher(name).matches())
                .findFirst();
    }
}
