using System.Runtime.CompilerServices;

[assembly: InternalsVisibleTo("AceMq.Core.Tests")]
