// SPDX-License-Identifier: Apache-2.0
package io.smqtt.thread;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Called on an event loop only: that of the object's owner, which is its session or its connection, or the loop that the
 * object belongs to. On a type it holds for all methods that do not say otherwise, but not for constructors and static methods.
 *
 * <p>A method on another thread reaches such a method through a task of the event loop. The build fails where a method that
 * is {@link AnyThread} calls one directly.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface OnEventLoop {}
