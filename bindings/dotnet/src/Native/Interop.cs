using System;
using System.Text;

namespace AceMq.Core.Native
{
    /// <summary>Texts, results and errors on their way between .NET and the library.</summary>
    internal static unsafe class Interop
    {
        /// <summary>Half a surrogate pair is no text; replacing it would make another name of it.</summary>
        private static readonly UTF8Encoding Utf8 = new UTF8Encoding(false, true);

        /// <summary>The most characters of all inputs together that are encoded on the stack.</summary>
        internal const int StackCharacters = 300;

        /// <summary>No character of a .NET string takes more bytes in UTF-8.</summary>
        internal const int MostBytes = 3;

        /// <summary>The text in UTF-8; a text of none for <c>null</c> is the caller's mistake.</summary>
        internal static byte[] Bytes(string text, string parameter)
        {
            if (text == null)
            {
                throw new ArgumentNullException(parameter);
            }
            try
            {
                return Utf8.GetBytes(text);
            }
            catch (EncoderFallbackException error)
            {
                throw NotText(parameter, error);
            }
        }

        /// <summary>Writes the text in UTF-8 to where <see cref="MostBytes"/> bytes for each character fit.</summary>
        internal static int Encode(string text, byte* target, string parameter)
        {
            var length = text.Length;
            fixed (char* characters = text)
            {
                // Names and keys are ASCII nearly always, and short: faster than to ask the encoder.
                var index = 0;
                if (BitConverter.IsLittleEndian)
                {
                    for (; index + 4 <= length; index += 4)
                    {
                        var four = *(ulong*)(characters + index);
                        if ((four & 0xFF80FF80FF80FF80) != 0)
                        {
                            break;
                        }
                        // a0b0c0d0 becomes ab and cd.
                        four |= four >> 8;
                        *(ushort*)(target + index) = (ushort)four;
                        *(ushort*)(target + index + 2) = (ushort)(four >> 32);
                    }
                }
                while (index < length && characters[index] < 0x80)
                {
                    target[index] = (byte)characters[index];
                    index++;
                }
                if (index == length)
                {
                    return length;
                }
                try
                {
                    return index + Utf8.GetBytes(characters + index, length - index, target + index, MostBytes * (length - index));
                }
                catch (EncoderFallbackException error)
                {
                    throw NotText(parameter, error);
                }
            }
        }

        private static AceMqException NotText(string parameter, EncoderFallbackException error)
        {
            return new AceMqException(
                "invalid_utf8",
                parameter + " has half a surrogate pair at character " + error.Index,
                "give a text that is Unicode");
        }

        internal static string Text(byte* bytes, UIntPtr length)
        {
            return length == UIntPtr.Zero ? "" : Utf8.GetString(bytes, checked((int)length));
        }

        /// <summary>The text that a call gave, after looking at how the call went.</summary>
        internal static string Take(int status, ref NativeBuffer buffer, IntPtr error)
        {
            Check(status, error);
            try
            {
                return Text(buffer.Ptr, buffer.Len);
            }
            finally
            {
                fixed (NativeBuffer* place = &buffer)
                {
                    NativeMethods.acemq_buffer_free(place);
                }
            }
        }

        /// <summary>Throws what a call failed with. Anything from 0 on is success.</summary>
        internal static void Check(int status, IntPtr error)
        {
            if (status < 0)
            {
                throw Failure(status, error);
            }
        }

        private static Exception Failure(int status, IntPtr error)
        {
            if (error == IntPtr.Zero)
            {
                return AceMqException.Internal("libacemq failed with status " + status + " and without an error");
            }
            string detail;
            try
            {
                var bytes = NativeMethods.acemq_error_detail(error);
                detail = Text(bytes.Ptr, bytes.Len);
            }
            finally
            {
                NativeMethods.acemq_error_free(error);
            }
            return AceMqException.OfDetail(detail);
        }

        internal static UIntPtr Size(int length)
        {
            return (UIntPtr)(uint)length;
        }
    }
}
